"""What can be done to messages, as values: the engine collects them, a store carries them out.

An operation leaves its outcome on itself: its own result fields, or ``error``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from queues.rules import QueueRules


class NewMessage(NamedTuple):
    content: str
    process_after: int = 0
    """When it becomes available; 0 is at once."""
    priority: int = 0
    dedup_key: str | None = None


class Claimed(NamedTuple):
    id: int
    content: str
    receipt: int
    attempts: int
    priority: int


class Settled(NamedTuple):
    """A message to settle; without a receipt, whoever holds it."""

    id: int
    receipt: int | None = None


class Rejected(NamedTuple):
    id: int
    receipt: int | None = None
    delay_ms: int | None = None
    """None is the delay that the queue's rules name for the attempt."""
    reason: str | None = None


class Prolonged(NamedTuple):
    id: int
    receipt: int
    visibility_ms: int


@dataclass(slots=True, eq=False)
class Operation:
    error: Exception | None = field(default=None, init=False)


@dataclass(slots=True, eq=False)
class Produce(Operation):
    """Store messages, all or none; ``ids`` in their order."""

    queue: str
    messages: list[NewMessage]
    rules: QueueRules
    ids: list[int] = field(default_factory=list, init=False)
    duplicates: int = field(default=0, init=False)


@dataclass(slots=True, eq=False)
class Claim(Operation):
    """Lease the first ``limit`` available messages of a queue, or as many as make an answer."""

    queue: str
    limit: int
    lease_ms: int
    messages: list[Claimed] = field(default_factory=list, init=False)
    cut: bool = field(default=False, init=False)
    """Whether more may be there, which would have made the answer too large."""


@dataclass(slots=True, eq=False)
class Ack(Operation):
    queue: str
    messages: list[Settled]
    done: list[bool] = field(default_factory=list, init=False)


@dataclass(slots=True, eq=False)
class Nack(Operation):
    queue: str
    messages: list[Rejected]
    rules: QueueRules
    done: list[bool] = field(default_factory=list, init=False)


@dataclass(slots=True, eq=False)
class Extend(Operation):
    queue: str
    messages: list[Prolonged]
    done: list[bool] = field(default_factory=list, init=False)


@dataclass(slots=True, eq=False)
class Release(Operation):
    """Undo a claim nobody received: available again, and the attempt does not count."""

    queue: str
    messages: list[Settled]


@dataclass(slots=True, eq=False)
class Due(Operation):
    """Let time pass, a bounded step: delays over, leases over."""

    rules: QueueRules
    limit: int = 1_000
