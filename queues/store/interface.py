"""What the engine asks of a store; SQLite is the first to answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from queues.store.operations import Operation


class StoreError(Exception):
    """Root of everything a store raises; a driver's own errors stop at its border."""


class StoreBusy(StoreError):
    """Another process holds the write lock; nothing was done, try again soon."""


class StoreUnavailable(StoreError):
    """The database as a whole cannot be written or reached."""


@dataclass(slots=True)
class Committed:
    """What a transaction changed for those who wait."""

    woken: dict[str, int] = field(default_factory=dict)
    """How many messages became available, by queue."""
    foreign: bool = False
    """Another process or node has committed since this one last looked."""

    def wake(self, queue: str) -> None:
        self.woken[queue] = self.woken.get(queue, 0) + 1


class Store(Protocol):
    @property
    def next_due_ms(self) -> int | None:
        """When the next delay or lease is over, as far as known; never too late."""

    def open(self) -> None: ...

    async def commit(self, operations: Sequence[Operation], now_ms: int) -> Committed:
        """Carry out a group in one transaction, in order; durable when this returns.

        An operation that cannot be carried out gets its ``error``, its neighbours do not.
        Raises StoreBusy when the transaction could not begin.
        """

    def changed(self) -> bool:
        """Whether another process or node has committed since the last look; cheap."""

    async def ping(self) -> None:
        """Raise StoreUnavailable when the database cannot be reached."""

    async def close(self) -> None: ...
