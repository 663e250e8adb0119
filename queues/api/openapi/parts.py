"""What an operation's entry is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from queues import limits
from queues.api import schemas
from queues.errors import STATUS_BY_CODE

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"

Access = Literal["key", "browser", "open"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    name: str
    place: Literal["path", "query", "header"]
    description: str
    kind: Any
    example: str | int
    required: bool = False
    variable: str | None = None
    """The shell variable that stands for it in curl lines; else the example does."""
    codes: tuple[str, ...] = ()
    """What a client can get for a bad one."""


@dataclass(frozen=True, kw_only=True)
class Example:
    summary: str
    value: Any


@dataclass(frozen=True, kw_only=True)
class Content:
    """A body, sent or answered; ``kind`` is a JSON schema or a type that stands for one."""

    kind: Any
    examples: tuple[Example, ...] = ()
    media: str = JSON


@dataclass(frozen=True, kw_only=True)
class Body:
    contents: tuple[Content, ...]
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What comes back when all went well."""

    status: int
    description: str
    content: Content | None = None
    headers: tuple[str, ...] = ()
    message_at: str | None = None
    """A JSON pointer to a message in the answer, which can be settled next."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    id: str
    tag: str
    method: str
    path: str
    summary: str
    description: str
    answers: tuple[Answer, ...]
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    access: Access = "key"
    codes: tuple[str, ...] = ()
    """The errors that do not follow from the parameters, the body or the access."""

    @property
    def all_codes(self) -> tuple[str, ...]:
        codes = {"internal", *self.codes}
        codes.update(code for parameter in self.parameters for code in parameter.codes)
        if self.body is not None:
            codes.add("bad_request.body.invalid")
        if self.access != "open":
            codes |= {"unauthorized", "too_many_requests"}
        return tuple(code for code in STATUS_BY_CODE if code in codes)


_NAME: Final = limits.QUEUE_NAME.pattern
_QUEUE_CODES: Final = ("bad_request.queue.invalid_name", "not_found.path")

QUEUE: Final = Parameter(
    name="queue",
    place="path",
    description=f"The queue's name, {_NAME}; with {limits.DLQ_SUFFIX} after it, "
    "its dead-letter queue.",
    kind={"type": "string", "pattern": f"^{_NAME}({limits.DLQ_SUFFIX})?$"},
    example="mails",
    required=True,
    codes=_QUEUE_CODES,
)
PRODUCE_QUEUE: Final = Parameter(
    name="queue",
    place="path",
    description=f"The queue's name, {_NAME} but not ending in {limits.DLQ_SUFFIX}; "
    "a queue exists as soon as a message is sent to it.",
    kind={"type": "string", "pattern": f"^(?!.*{limits.DLQ_SUFFIX}$){_NAME}$"},
    example="mails",
    required=True,
    codes=(*_QUEUE_CODES, "bad_request.queue.produce_to_dlq"),
)
MESSAGE_ID: Final = Parameter(
    name="id",
    place="path",
    description="The message's id.",
    kind=schemas.MessageId,
    example="01a1ed7e-c979-7759-b401-46b2b65a5e0b",
    variable="ID",
    required=True,
    codes=("bad_request.messageId.invalid",),
)
RECEIPT: Final = Parameter(
    name="X-Forq-Receipt",
    place="header",
    description="The delivery's receipt; without it, the call means whichever delivery is current.",
    kind=schemas.Receipt,
    example="5d1c0f8a7b3e6924",
    variable="RECEIPT",
    codes=("bad_request.receipt.invalid",),
)
REQUIRED_RECEIPT: Final = Parameter(
    name="X-Forq-Receipt",
    place="header",
    description="The receipt of the delivery whose lease is to last longer.",
    kind=schemas.Receipt,
    example="5d1c0f8a7b3e6924",
    variable="RECEIPT",
    required=True,
    codes=("bad_request.receipt.invalid",),
)
WAIT: Final = Parameter(
    name="waitMs",
    place="query",
    description="How long to wait for a message, in milliseconds; 0 does not wait.",
    kind=schemas.Wait,
    example=1000,
    codes=("bad_request.query.invalid",),
)
IF_NONE_MATCH: Final = Parameter(
    name="If-None-Match",
    place="header",
    description="The ETag of the copy you have: 304 if it is still the current one.",
    kind={"type": "string"},
    example="*",
)
