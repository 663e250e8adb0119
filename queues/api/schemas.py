"""The bodies of the message operations. Field names are the contract's.

What a Meta says is also what the API's documentation says (queues/api/openapi). What stands in
an ``extra_json_schema`` is documentation only: it is checked later, with a code of its own.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from queues import limits, receipts
from queues.api.strict_json import StrictDecoder

MessageId = Annotated[
    str, Meta(description="The message's id, a UUIDv7.", extra_json_schema={"format": "uuid"})
]
Receipt = Annotated[
    str,
    Meta(
        description="Names one delivery of a message; goes back as it came.",
        extra_json_schema={"pattern": f"^{receipts.TEXT.pattern}$"},
    ),
]
Content = Annotated[
    str,
    Meta(
        description="The message itself, any text; may be empty. The limit counts bytes of UTF-8.",
        extra_json_schema={"maxLength": limits.MAX_CONTENT_BYTES},
    ),
]
ProcessAfter = Annotated[
    int,
    Meta(
        description="When the message becomes available, in Unix milliseconds; 0 is at once.",
        extra_json_schema={"minimum": 0},
    ),
]
Priority = Annotated[
    int,
    Meta(
        ge=limits.MIN_PRIORITY,
        le=limits.MAX_PRIORITY,
        description="Of the messages that are available, the highest priority goes out first.",
        extra_json_schema={"default": 0},
    ),
]
DedupKey = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=limits.MAX_DEDUP_KEY_CHARS,
        description="While a message with this key is in the queue, and for "
        f"{limits.DEDUP_WINDOW_MS // 60_000} minutes after it left, no second one is stored.",
    ),
]
Max = Annotated[
    int,
    Meta(
        ge=1,
        le=limits.MAX_BATCH,
        description="The most messages to take; fewer come if there are fewer.",
        extra_json_schema={"default": 1},
    ),
]
Wait = Annotated[
    int,
    Meta(
        ge=0,
        le=limits.MAX_WAIT_MS,
        description="How long to wait for a first message, in milliseconds; 0 does not wait.",
        extra_json_schema={"default": limits.MAX_WAIT_MS},
    ),
]
Visibility = Annotated[
    int,
    Meta(
        ge=limits.MIN_VISIBILITY_MS,
        le=limits.MAX_VISIBILITY_MS,
        description="How long the lease lasts from now, in milliseconds; "
        "after that the message is available again.",
    ),
]
Delay = Annotated[
    int,
    Meta(
        ge=0,
        le=limits.PROCESS_AFTER_MAX_AHEAD_MS,
        description="How long until the message is available again, in milliseconds; "
        "without it, the queue's own delay for this attempt.",
    ),
]
Reason = Annotated[
    str,
    Meta(
        max_length=limits.MAX_REASON_CHARS,
        description="Why it failed, for whoever looks into it later.",
    ),
]
Batch = Meta(min_length=1, max_length=limits.MAX_BATCH, description="One entry for each message.")


class ProduceBody(Struct, forbid_unknown_fields=True):
    content: Content
    processAfter: ProcessAfter | UnsetType | None = UNSET  # noqa: N815
    priority: Priority | UnsetType | None = UNSET
    dedupKey: DedupKey | UnsetType | None = UNSET  # noqa: N815


class ProduceBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[ProduceBody], Batch]


class ClaimBody(Struct, forbid_unknown_fields=True):
    max: Max | UnsetType | None = UNSET
    waitMs: Wait | UnsetType | None = UNSET  # noqa: N815
    visibilityMs: Visibility | UnsetType | None = UNSET  # noqa: N815


class NackBody(Struct, forbid_unknown_fields=True):
    delayMs: Delay | UnsetType | None = UNSET  # noqa: N815
    reason: Reason | UnsetType | None = UNSET


class ExtendBody(Struct, forbid_unknown_fields=True):
    visibilityMs: Visibility  # noqa: N815


class AckItem(Struct, forbid_unknown_fields=True):
    id: MessageId
    receipt: Receipt


class NackItem(Struct, forbid_unknown_fields=True):
    id: MessageId
    receipt: Receipt
    delayMs: Delay | UnsetType | None = UNSET  # noqa: N815
    reason: Reason | UnsetType | None = UNSET


class ExtendItem(Struct, forbid_unknown_fields=True):
    id: MessageId
    receipt: Receipt
    visibilityMs: Visibility  # noqa: N815


class AckBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[AckItem], Batch]


class NackBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[NackItem], Batch]


class ExtendBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[ExtendItem], Batch]


class Ids(Struct, forbid_unknown_fields=True):
    ids: Annotated[list[MessageId], Meta(description="One for each message, in the order sent.")]


class ConsumedMessage(Struct, forbid_unknown_fields=True):
    id: MessageId
    content: Content
    receipt: Receipt


class ClaimedMessage(Struct, forbid_unknown_fields=True):
    id: MessageId
    content: Content
    receipt: Receipt
    attempts: Annotated[
        int, Meta(ge=1, description="How often it has been delivered, this time included.")
    ]
    priority: Priority
    receivedAt: Annotated[  # noqa: N815
        int, Meta(description="When it was produced, in Unix milliseconds.")
    ]


class ClaimedMessages(Struct, forbid_unknown_fields=True):
    messages: Annotated[
        list[ClaimedMessage], Meta(description="What was taken, in order of delivery.")
    ]


class Settlement(Struct, forbid_unknown_fields=True):
    done: Annotated[list[MessageId], Meta(description="The ids it was done to.")]
    missed: Annotated[
        list[MessageId],
        Meta(description="The ids whose receipt is no longer the current one: left as they are."),
    ]


PRODUCE: Final = StrictDecoder(ProduceBody)
PRODUCE_BATCH: Final = StrictDecoder(ProduceBatchBody)
CLAIM: Final = StrictDecoder(ClaimBody)
NACK: Final = StrictDecoder(NackBody)
EXTEND: Final = StrictDecoder(ExtendBody)
ACK_BATCH: Final = StrictDecoder(AckBatchBody)
NACK_BATCH: Final = StrictDecoder(NackBatchBody)
EXTEND_BATCH: Final = StrictDecoder(ExtendBatchBody)
