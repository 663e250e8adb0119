"""Group commit: what arrives while a transaction is under way shares the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf
from random import uniform
from typing import Final, NamedTuple, TypeVar

import structlog

from queues.clock import Clock, now_ms
from queues.engine.waiting import Room, Waiter, share
from queues.errors import ForqError, Overloaded
from queues.rules import QueueRules
from queues.store.interface import Committed, Store, StoreBusy, StoreError, StoreUnavailable
from queues.store.operations import (
    Ack,
    Claim,
    Claimed,
    Due,
    Extend,
    Nack,
    Operation,
    Produce,
    Release,
    Settled,
)

# How long a group waits for the write lock while another process holds it.
LOCK_PATIENCE_S: Final = 30.0
# How long it still does so once the server is about to stop.
LAST_PATIENCE_S: Final = 3.0
# When to let time pass again if the database would not have it.
DUE_AGAIN_S: Final = 1.0
# A disk that is full fails every group; a line for each would not help it.
QUIET_S: Final = 1.0
# How often to look whether another process has committed, while somebody waits.
LOOK_INTERVAL_S: Final = 0.005
# What one transaction takes on at the most, so that nobody waits long for their turn.
GROUP_MESSAGES: Final = 1_000
GROUP_BYTES: Final = 8 * 1024 * 1024
# What may be under way and not yet written.
BACKLOG_MESSAGES: Final = 50_000
BACKLOG_BYTES: Final = 256 * 1024 * 1024

log = structlog.get_logger("forq.engine")
Op = TypeVar("Op", Produce, Ack, Nack, Extend)


class _Pending(NamedTuple):
    operation: Produce | Ack | Nack | Extend | Release
    future: asyncio.Future[None]
    size: int


class Engine:
    def __init__(
        self,
        store: Store,
        *,
        rules: QueueRules,
        clock: Clock = now_ms,
        backlog_messages: int = BACKLOG_MESSAGES,
        backlog_bytes: int = BACKLOG_BYTES,
        lock_patience_s: float = LOCK_PATIENCE_S,
    ) -> None:
        self._store = store
        self._rules = rules
        self._clock = clock
        self._most_messages = backlog_messages
        self._most_bytes = backlog_bytes
        self._lock_patience_s = lock_patience_s
        self._pending: list[_Pending] = []
        self._messages = 0
        self._bytes = 0
        self._rooms: dict[str, Room] = {}
        self._hopeful: dict[str, None] = {}
        self._due = True
        self._due_timer: asyncio.TimerHandle | None = None
        self._due_at: int | None = None
        self._look_timer: asyncio.TimerHandle | None = None
        self._foreign = False
        self._draining = False
        self._rest_until = -inf
        self._patience_ends = inf
        self._quiet_until = -inf
        self._closed = False
        self._work = asyncio.Event()

    @property
    def waiting(self) -> int:
        return sum(len(room.waiters) for room in self._rooms.values())

    def start(self) -> None:
        self._store.open()
        self._loop = asyncio.get_running_loop()
        self._writer = self._loop.create_task(self._write())
        self._work.set()

    async def submit(self, operation: Op, size: int = 0) -> Op:
        """Have an operation carried out in the next transaction; ``size`` in bytes, roughly."""
        if self._closed:
            raise ForqError("shutting_down")
        count = len(operation.messages)
        if self._messages + count > self._most_messages or self._bytes + size > self._most_bytes:
            raise Overloaded
        future: asyncio.Future[None] = self._loop.create_future()
        self._pending.append(_Pending(operation, future, size))
        self._messages += count
        self._bytes += size
        self._work.set()
        await future
        if operation.error is not None:
            raise operation.error
        return operation

    def claim(
        self,
        queue: str,
        *,
        limit: int,
        lease_ms: int,
        wait_ms: int,
        on_wait: Callable[[Waiter], None] | None = None,
    ) -> Waiter:
        """Stand in line for messages; ``on_wait`` is called if there is none at once."""
        if self._closed:
            raise ForqError("shutting_down")
        future: asyncio.Future[list[Claimed]] = self._loop.create_future()
        if self._draining:
            wait_ms = 0
        waiter = Waiter(future, queue, limit, lease_ms, wait_ms, on_wait)
        room = self._rooms.get(queue)
        if room is None:
            room = self._rooms[queue] = Room()
        if wait_ms == 0 and room.drained and not room.fresh:
            if not (self._foreign or self._store.changed()):
                waiter.answer([])
                return waiter
            room.drained = False
        room.waiters[waiter] = None
        if room.hopeful:
            self._hopeful[queue] = None
            self._work.set()
        else:
            self._wait(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        """A consumer stops waiting: its time is over, or it went away."""
        waiter.answer([])
        self._forget(waiter)

    def release(self, queue: str, messages: list[Claimed]) -> None:
        """Give back messages that were claimed for a consumer who went away."""
        if messages and not self._writer.done():
            held = [Settled(message.id, message.receipt) for message in messages]
            operation = Release(queue, held)
            self._pending.append(_Pending(operation, self._loop.create_future(), 0))
            self._messages += len(held)
            self._work.set()

    def drain(self) -> None:
        """Answer everyone who waits; from now on nobody waits."""
        if not self._draining:
            self._draining = True
            self._patience_ends = asyncio.get_running_loop().time() + LAST_PATIENCE_S
        for room in list(self._rooms.values()):
            for waiter in list(room.waiters):
                self.leave(waiter)

    async def ping(self) -> None:
        if self._writer.done():
            raise StoreError("the writer has stopped")
        await self._store.ping()

    async def close(self) -> None:
        """Write what was accepted, then close the store."""
        self.drain()
        self._closed = True
        self._work.set()
        await self._writer
        for timer in (self._due_timer, self._look_timer):
            if timer is not None:
                timer.cancel()
        await self._store.close()

    async def _write(self) -> None:
        while self._pending or not self._closed:
            await self._work.wait()
            self._work.clear()
            try:
                if await self._write_group():
                    # There may be more; but others get their turn first.
                    self._loop.call_soon(self._work.set)
            except Exception:
                log.exception("engine.group_failed")

    async def _write_group(self) -> bool:
        """Carry out one transaction's worth of what is there to do; False if there is nothing."""
        pending = self._take()
        due = Due(self._rules) if self._due or self._overdue() else None
        operations: list[Operation] = [] if due is None else [due]
        expected: dict[str, int] = {}
        others: list[Operation] = []
        for operation, _, _ in pending:
            if isinstance(operation, Produce):
                operations.append(operation)
                queue = operation.queue
                expected[queue] = expected.get(queue, 0) + len(operation.messages)
            else:
                others.append(operation)
        claims = self._plan_claims(expected)
        alone: list[Operation] = [claim for claim, _ in claims]
        operations += others + alone
        if not operations:
            return False
        self._due = False
        committed = await self._commit(operations)
        self._complain(operations)
        if len(operations) > len(alone) > 0 and isinstance(alone[0].error, StoreUnavailable):
            # On a full disk it is the others that fail; who finds nothing has nothing to write.
            for claim, _ in claims:
                claim.error = None
            committed = await self._commit(alone)
        for operation, future, size in pending:
            self._messages -= len(operation.messages)
            self._bytes -= size
            if not future.done():
                future.set_result(None)
        self._note(committed)
        for claim, waiters in claims:
            self._settle(claim, waiters)
        for claim, _ in claims:
            self._seat(claim.queue)
        if self._hopeful:
            self._work.set()
        if due is not None and due.error is not None:
            self._rest_until = self._loop.time() + DUE_AGAIN_S
            self._look_at_time_in(DUE_AGAIN_S, due_at=0)
        self._watch_time()
        return True

    def _take(self) -> list[_Pending]:
        pending = self._pending
        if self._messages <= GROUP_MESSAGES and self._bytes <= GROUP_BYTES:
            self._pending = []
            return pending
        taken = messages = size = 0
        while taken < len(pending) and messages < GROUP_MESSAGES and size <= GROUP_BYTES:
            messages += len(pending[taken].operation.messages)
            size += pending[taken].size
            taken += 1
        self._pending = pending[taken:]
        return pending[:taken]

    def _plan_claims(self, expected: dict[str, int]) -> list[tuple[Claim, list[Waiter]]]:
        queues, self._hopeful = self._hopeful, {}
        queues.update(dict.fromkeys(expected))
        return [
            planned
            for queue in queues
            if (room := self._rooms.get(queue)) is not None
            for planned in room.plan(expected.get(queue, 0))
        ]

    async def _commit(self, operations: list[Operation]) -> Committed:
        give_up_at = self._loop.time() + self._lock_patience_s
        pause = 0.0005
        while True:
            try:
                return await self._store.commit(operations, self._clock())
            except StoreBusy as error:
                self._seat_all()
                if self._loop.time() > min(give_up_at, self._patience_ends):
                    return _failed(operations, error)
            except StoreError as error:
                return _failed(operations, error)
            except Exception as error:
                log.exception("engine.group_failed")
                return _failed(operations, StoreError(str(error)))
            # Uneven pauses, so that two processes do not keep missing each other.
            await asyncio.sleep(uniform(0.5, 1) * pause)  # noqa: S311 - not a secret
            pause = min(2 * pause, 0.01)

    def _complain(self, operations: list[Operation]) -> None:
        """Log what went wrong: once for all whom it concerns, and once a second at the most."""
        errors = [each.error for each in operations if each.error is not None]
        if errors and self._loop.time() >= self._quiet_until:
            self._quiet_until = self._loop.time() + QUIET_S
            log.error("engine.write_failed", error=str(errors[0]), operations=len(errors))

    def _settle(self, claim: Claim, waiters: list[Waiter]) -> None:
        room = self._rooms.get(claim.queue)
        if claim.error is not None:
            for waiter in waiters:
                waiter.fail(claim.error)
                self._forget(waiter)
            return
        if room is not None:
            room.note(claim)
        if claim.messages:
            self.release(claim.queue, share(claim, waiters))
        for waiter in waiters:
            if waiter.future.done():
                self._forget(waiter)

    def _seat(self, queue: str) -> None:
        """Where nothing is left to claim, those who have come since begin to wait."""
        room = self._rooms.get(queue)
        if room is None:
            return
        if room.hopeful:
            self._hopeful[queue] = None
            return
        for waiter in room.newcomers():
            if waiter.wait_ms == 0:
                self.leave(waiter)
            else:
                self._wait(waiter)

    def _seat_all(self) -> None:
        """However long the database takes, nobody waits longer than they asked to."""
        for room in list(self._rooms.values()):
            for waiter in room.newcomers():
                self._wait(waiter)

    def _wait(self, waiter: Waiter) -> None:
        waiter.timer = self._loop.call_later(waiter.wait_ms / 1000, self.leave, waiter)
        if waiter.on_wait is not None:
            waiter.on_wait(waiter)
        if self._look_timer is None:
            self._look_timer = self._loop.call_later(LOOK_INTERVAL_S, self._look)

    def _forget(self, waiter: Waiter) -> None:
        room = self._rooms.get(waiter.queue)
        if room is not None:
            room.waiters.pop(waiter, None)
            if not room.waiters:
                del self._rooms[waiter.queue]

    def _look(self) -> None:
        """Notice what other processes and the clock did, while somebody waits for it."""
        self._look_timer = None
        if not self._rooms or self._closed:
            return
        if self._overdue():
            self._work.set()
        if self._foreign or self._store.changed():
            self._foreign = False
            for queue, room in self._rooms.items():
                room.drained = False
                self._hopeful[queue] = None
            self._work.set()
        self._look_timer = self._loop.call_later(LOOK_INTERVAL_S, self._look)

    def _note(self, committed: Committed) -> None:
        """Remember where something became available for those who wait."""
        self._foreign |= committed.foreign
        for queue, count in committed.woken.items():
            room = self._rooms.get(queue)
            if room is not None and room.drained:
                room.fresh += count
                self._hopeful[queue] = None

    def _overdue(self) -> bool:
        """Whether time has passed that no timer told of, as when the clock is set ahead."""
        due_at = self._store.next_due_ms
        if due_at is None or due_at > self._clock():
            return False
        return self._loop.time() >= self._rest_until

    def _watch_time(self) -> None:
        due_at = self._store.next_due_ms
        if due_at is None or (self._due_at is not None and self._due_at <= due_at):
            return
        self._look_at_time_in(max(0, due_at - self._clock()) / 1000, due_at=due_at)

    def _look_at_time_in(self, delay_s: float, *, due_at: int) -> None:
        if self._due_timer is not None:
            self._due_timer.cancel()
        self._due_at = due_at
        self._due_timer = self._loop.call_later(delay_s, self._on_due)

    def _on_due(self) -> None:
        self._due_timer = self._due_at = None
        self._due = True
        self._work.set()


def _failed(operations: list[Operation], error: StoreError) -> Committed:
    for operation in operations:
        operation.error = error
    return Committed()
