"""Values that look like the real ones; tests send them to a real server."""

from __future__ import annotations

from typing import Final

from queues.api.openapi.parts import MESSAGE_ID, RECEIPT, Example

_ID: Final = MESSAGE_ID.example
_SECOND_ID: Final = "01a1ed7e-c989-7713-bb4b-39e8b47641b5"
_RECEIPT: Final = RECEIPT.example
_SECOND_RECEIPT: Final = "5d1c0f8a7b3e6926"
_WELCOME: Final = "welcome ada@example.org"
_REMINDER: Final = "remind alan@example.org"

PRODUCE: Final = (
    Example(summary="A message for now", value={"content": _WELCOME}),
    Example(
        summary="An urgent one, at most once",
        value={"content": _WELCOME, "priority": 50, "dedupKey": "welcome-ada"},
    ),
)
BATCH: Final = (
    Example(
        summary="Two messages",
        value={"messages": [{"content": _WELCOME}, {"content": _REMINDER, "priority": -10}]},
    ),
)
LINES: Final = (Example(summary="Two messages, one a line", value=BATCH[0].value["messages"]),)
IDS: Final = (Example(summary="Their ids", value={"ids": [_ID, _SECOND_ID]}),)
CONSUMED: Final = (
    Example(summary="A message", value={"id": _ID, "content": _WELCOME, "receipt": _RECEIPT}),
)
CLAIM: Final = (
    Example(
        summary="Up to ten, for a minute of work",
        value={"max": 10, "waitMs": 1_000, "visibilityMs": 60_000},
    ),
)
CLAIMED: Final = (
    Example(
        summary="One message",
        value={
            "messages": [
                {
                    "id": _ID,
                    "content": _WELCOME,
                    "receipt": _RECEIPT,
                    "attempts": 1,
                    "priority": 0,
                    "receivedAt": 1_794_985_871_737,
                }
            ]
        },
    ),
    Example(summary="None came in time", value={"messages": []}),
)
NACK: Final = (
    Example(
        summary="Again in half a minute",
        value={"delayMs": 30_000, "reason": "mail server did not answer"},
    ),
)
EXTEND: Final = (Example(summary="Ten more minutes", value={"visibilityMs": 600_000}),)
_HELD: Final = (
    {"id": _ID, "receipt": _RECEIPT},
    {"id": _SECOND_ID, "receipt": _SECOND_RECEIPT},
)
ACK_BATCH: Final = (Example(summary="Two at once", value={"messages": [*_HELD]}),)
NACK_BATCH: Final = (
    Example(
        summary="Two at once",
        value={"messages": [_HELD[0], {**_HELD[1], "delayMs": 0, "reason": "worker stopped"}]},
    ),
)
EXTEND_BATCH: Final = (
    Example(
        summary="Two at once",
        value={"messages": [{**each, "visibilityMs": 600_000} for each in _HELD]},
    ),
)
SETTLED: Final = (
    Example(summary="One done, one too late", value={"done": [_ID], "missed": [_SECOND_ID]}),
)
