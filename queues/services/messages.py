"""The rules of the message operations; knows no HTTP and no SQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from queues import limits
from queues.clock import Clock, now_ms
from queues.engine.engine import Engine
from queues.engine.waiting import Waiter
from queues.errors import ForqError
from queues.rules import QueueRules, is_dlq
from queues.store.operations import (
    Ack,
    Claimed,
    Extend,
    Nack,
    NewMessage,
    Produce,
    Prolonged,
    Rejected,
    Settled,
)


class MessageService:
    def __init__(
        self,
        engine: Engine,
        *,
        queue_rules: QueueRules,
        dlq_rules: QueueRules,
        clock: Clock = now_ms,
    ) -> None:
        self._engine = engine
        self._queue_rules = queue_rules
        self._dlq_rules = dlq_rules
        self._clock = clock

    def rules(self, queue: str) -> QueueRules:
        return self._dlq_rules if is_dlq(queue) else self._queue_rules

    async def produce(self, queue: str, messages: list[NewMessage], size: int) -> Produce:
        """Store messages, all or none; ``size`` is what they weigh in the backlog."""
        check_queue(queue)
        if is_dlq(queue):
            raise ForqError("bad_request.queue.produce_to_dlq")
        now = self._clock()
        for message in messages:
            check_message(message, now)
        return await self._engine.submit(Produce(queue, messages, self.rules(queue)), size)

    def claim(
        self,
        queue: str,
        *,
        limit: int,
        wait_ms: int,
        visibility_ms: int | None,
        on_wait: Callable[[Waiter], None],
    ) -> Waiter:
        check_queue(queue)
        return self._engine.claim(
            queue,
            limit=limit,
            lease_ms=visibility_ms or self.rules(queue).visibility_ms,
            wait_ms=wait_ms,
            on_wait=on_wait,
        )

    def leave(self, waiter: Waiter) -> None:
        """The consumer who waits went away."""
        self._engine.leave(waiter)

    def release(self, queue: str, messages: list[Claimed]) -> None:
        """The consumer went away before the messages reached it."""
        self._engine.release(queue, messages)

    async def ack(self, queue: str, messages: list[Settled]) -> Sequence[bool]:
        check_queue(queue)
        return (await self._engine.submit(Ack(queue, messages))).done

    async def nack(self, queue: str, messages: list[Rejected]) -> Sequence[bool]:
        check_queue(queue)
        return (await self._engine.submit(Nack(queue, messages, self.rules(queue)))).done

    async def extend(self, queue: str, messages: list[Prolonged]) -> Sequence[bool]:
        check_queue(queue)
        return (await self._engine.submit(Extend(queue, messages))).done


def check_queue(queue: str) -> None:
    if not (limits.QUEUE_NAME.fullmatch(queue) or limits.DLQ_NAME.fullmatch(queue)):
        raise ForqError("bad_request.queue.invalid_name")


def check_message(message: NewMessage, now_ms: int) -> None:
    content = message.content
    # No character takes more than four bytes: most content need not be encoded to be measured.
    if (
        len(content) * 4 > limits.MAX_CONTENT_BYTES
        and len(content.encode()) > limits.MAX_CONTENT_BYTES
    ):
        raise ForqError("bad_request.body.content.exceeds_limit")
    if message.process_after:
        ahead = message.process_after - now_ms
        if ahead < -limits.PROCESS_AFTER_TOLERANCE_MS:
            raise ForqError("bad_request.body.processAfter.in_past")
        if ahead > limits.PROCESS_AFTER_MAX_AHEAD_MS:
            raise ForqError("bad_request.body.processAfter.too_far")
