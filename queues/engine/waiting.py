"""Consumers that wait for messages, queue by queue, in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import takewhile

from queues.limits import MAX_BATCH
from queues.store.operations import Claim, Claimed


class Waiter:
    """One consumer's wish; ``future`` gets what was claimed for it, perhaps nothing."""

    __slots__ = ("future", "lease_ms", "limit", "on_wait", "queue", "timer", "wait_ms")

    def __init__(
        self,
        future: asyncio.Future[list[Claimed]],
        queue: str,
        limit: int,
        lease_ms: int,
        wait_ms: int,
        on_wait: Callable[[Waiter], None] | None,
    ) -> None:
        self.future = future
        self.queue = queue
        self.limit = limit
        self.lease_ms = lease_ms
        self.wait_ms = wait_ms
        self.on_wait = on_wait
        self.timer: asyncio.TimerHandle | None = None

    def answer(self, messages: list[Claimed]) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if not self.future.done():
            self.future.set_result(messages)

    def fail(self, error: Exception) -> None:
        if self.timer is not None:
            self.timer.cancel()
        if not self.future.done():
            self.future.set_exception(error)


class Room:
    """Those who wait for one queue, and what is known of that queue.

    ``drained``: the last claim found less than it asked for, so only messages that came since
    (``fresh`` of them) can be there; nobody asks the database before one has.
    """

    __slots__ = ("drained", "fresh", "waiters")

    def __init__(self) -> None:
        self.waiters: dict[Waiter, None] = {}
        self.drained = False
        self.fresh = 0

    @property
    def hopeful(self) -> bool:
        return bool(self.waiters) and (self.fresh > 0 or not self.drained)

    def newcomers(self) -> list[Waiter]:
        """Those whose time has not begun to run; they are always the last."""
        last = takewhile(lambda waiter: waiter.timer is None, reversed(self.waiters))
        return list(last)[::-1]

    def plan(self, expected: int) -> Iterator[tuple[Claim, list[Waiter]]]:
        """The claims that would serve those who wait, neighbours with the same lease as one.

        ``expected`` messages come in the same transaction, before the claims.
        """
        left = min(self.fresh + expected, MAX_BATCH) if self.drained else MAX_BATCH
        claim: Claim | None = None
        served: list[Waiter] = []
        for waiter in self.waiters:
            if left <= 0:
                break
            limit = min(waiter.limit, left)
            left -= limit
            if claim is None or claim.lease_ms != waiter.lease_ms:
                if claim is not None:
                    yield claim, served
                claim, served = Claim(waiter.queue, 0, waiter.lease_ms), []
            claim.limit += limit
            served.append(waiter)
        if claim is not None:
            yield claim, served

    def note(self, claim: Claim) -> None:
        """Learn from what a claim found."""
        found = len(claim.messages)
        if found < claim.limit and not claim.cut:
            self.drained = True
            self.fresh = 0
        elif self.drained:
            self.fresh = max(0, self.fresh - found)


def share(claim: Claim, waiters: list[Waiter]) -> list[Claimed]:
    """Hand a claim's messages out, first come, first served; returns what nobody is there for."""
    messages = claim.messages
    for waiter in waiters:
        if not messages:
            break
        if not waiter.future.done():
            waiter.answer(messages[: waiter.limit])
            messages = messages[waiter.limit :]
    return messages
