"""The sentences of the documentation that belong to no single operation."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

TITLE: Final = "Forq"
SUMMARY: Final = "A durable message queue over HTTP."
INTRODUCTION: Final = (
    "Producers send messages to queues, consumers take them and say how it went. "
    "A message that is taken stays invisible to others until its lease is over; "
    "one that keeps failing ends in the queue's dead-letter queue. "
    "A write is answered once it is stored. "
    "Times are Unix milliseconds by the server's clock, text is UTF-8, JSON is read strictly: "
    "an unknown, doubled or wrongly typed field is an error (3.0 is no whole number), "
    "null is the same as absent."
)

TAGS: Final = MappingProxyType(
    {
        "Produce": "Put messages into a queue.",
        "Consume": "Take messages out under a lease, and wait for them when there are none.",
        "Settle": "Say what became of a message: done, failed, or still being worked on.",
        "Server": "Health, and this documentation.",
    }
)

MEANING_BY_CODE: Final = MappingProxyType(
    {
        "bad_request.body.invalid": "The body is not the JSON that this call takes.",
        "bad_request.body.content.exceeds_limit": (
            "A message's content (400) or the whole body (413) is too large."
        ),
        "bad_request.body.processAfter.in_past": "processAfter lies in the past.",
        "bad_request.body.processAfter.too_far": "processAfter lies too far ahead.",
        "bad_request.queue.invalid_name": "No queue can have this name.",
        "bad_request.queue.produce_to_dlq": (
            "Nobody can produce to a dead-letter queue; Forq fills it by itself."
        ),
        "bad_request.messageId.invalid": "The message's id is not a UUID.",
        "bad_request.receipt.invalid": "The receipt is missing, or is none that Forq gives out.",
        "bad_request.dlq_only_operation": "Only a dead-letter queue can do this.",
        "bad_request.query.invalid": "A query parameter is unknown, doubled or out of range.",
        "unauthorized": "The key is missing or wrong.",
        "not_found.message": (
            "There is no such delivery, or no more: settled, lease over, delivered anew."
        ),
        "not_found.queue": "There is no such queue.",
        "not_found.path": "There is nothing at this path; a slash inside a name also leads here.",
        "method_not_allowed": "The path is right, the method is not; Allow names those that are.",
        "too_many_requests": (
            "Too many wrong keys came from this address; a right one still passes."
        ),
        "overloaded": "More is waiting to be written than the server can hold; nothing was stored.",
        "queue_full": "The queue holds as many messages as its settings allow.",
        "internal": "The server failed; its log says why.",
        "forq.unhealthy": "The database cannot be reached, or another process keeps it locked.",
        "shutting_down": "The server is about to stop; try again in a moment.",
    }
)

MEANING_BY_STATUS: Final = MappingProxyType(
    {
        400: "The request is wrong; sending it again will not help.",
        401: "The key is missing or wrong.",
        404: "What the request names is not there.",
        405: "The path does not know the method.",
        413: "The body is over the limit; the server stops reading there.",
        429: "Not now; try again after the time that Retry-After names.",
        500: "The server failed.",
        503: "The server cannot do it at the moment.",
    }
)

LINKS: Final = MappingProxyType(
    {
        "ack": "The work is done.",
        "nack": "The work failed.",
        "extend": "The work takes longer.",
    }
)
