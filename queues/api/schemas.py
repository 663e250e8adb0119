"""The bodies of the message operations. Field names are the contract's."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from queues import limits
from queues.api.strict_json import StrictDecoder

Visibility = Annotated[int, Meta(ge=limits.MIN_VISIBILITY_MS, le=limits.MAX_VISIBILITY_MS)]
Wait = Annotated[int, Meta(ge=0, le=limits.MAX_WAIT_MS)]
Priority = Annotated[int, Meta(ge=limits.MIN_PRIORITY, le=limits.MAX_PRIORITY)]
DedupKey = Annotated[str, Meta(min_length=1, max_length=limits.MAX_DEDUP_KEY_CHARS)]
Delay = Annotated[int, Meta(ge=0, le=limits.PROCESS_AFTER_MAX_AHEAD_MS)]
Reason = Annotated[str, Meta(max_length=limits.MAX_REASON_CHARS)]
Batch = Meta(min_length=1, max_length=limits.MAX_BATCH)


class ProduceBody(Struct, forbid_unknown_fields=True):
    content: str
    processAfter: int | UnsetType | None = UNSET  # noqa: N815
    priority: Priority | UnsetType | None = UNSET
    dedupKey: DedupKey | UnsetType | None = UNSET  # noqa: N815


class ProduceBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[ProduceBody], Batch]


class ClaimBody(Struct, forbid_unknown_fields=True):
    max: Annotated[int, Meta(ge=1, le=limits.MAX_BATCH)] | UnsetType | None = UNSET
    waitMs: Wait | UnsetType | None = UNSET  # noqa: N815
    visibilityMs: Visibility | UnsetType | None = UNSET  # noqa: N815


class NackBody(Struct, forbid_unknown_fields=True):
    delayMs: Delay | UnsetType | None = UNSET  # noqa: N815
    reason: Reason | UnsetType | None = UNSET


class ExtendBody(Struct, forbid_unknown_fields=True):
    visibilityMs: Visibility  # noqa: N815


class AckItem(Struct, forbid_unknown_fields=True):
    id: str
    receipt: str


class NackItem(Struct, forbid_unknown_fields=True):
    id: str
    receipt: str
    delayMs: Delay | UnsetType | None = UNSET  # noqa: N815
    reason: Reason | UnsetType | None = UNSET


class ExtendItem(Struct, forbid_unknown_fields=True):
    id: str
    receipt: str
    visibilityMs: Visibility  # noqa: N815


class AckBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[AckItem], Batch]


class NackBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[NackItem], Batch]


class ExtendBatchBody(Struct, forbid_unknown_fields=True):
    messages: Annotated[list[ExtendItem], Batch]


class Ids(Struct):
    ids: list[str]


class ConsumedMessage(Struct):
    id: str
    content: str
    receipt: str


class ClaimedMessage(Struct):
    id: str
    content: str
    receipt: str
    attempts: int
    priority: int
    receivedAt: int  # noqa: N815


class ClaimedMessages(Struct):
    messages: list[ClaimedMessage]


class Settlement(Struct):
    done: list[str]
    missed: list[str]


PRODUCE: Final = StrictDecoder(ProduceBody)
PRODUCE_BATCH: Final = StrictDecoder(ProduceBatchBody)
CLAIM: Final = StrictDecoder(ClaimBody)
NACK: Final = StrictDecoder(NackBody)
EXTEND: Final = StrictDecoder(ExtendBody)
ACK_BATCH: Final = StrictDecoder(AckBatchBody)
NACK_BATCH: Final = StrictDecoder(NackBatchBody)
EXTEND_BATCH: Final = StrictDecoder(ExtendBatchBody)
