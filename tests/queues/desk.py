"""One store at work: an operation at a time, at the moment the test names."""

from __future__ import annotations

from typing import TypeVar

from queues.rules import QueueRules
from queues.store.interface import Committed, Store
from queues.store.operations import (
    Ack,
    Claim,
    Claimed,
    Due,
    Extend,
    Nack,
    NewMessage,
    Operation,
    Produce,
    Prolonged,
    Rejected,
    Release,
    Settled,
)

Op = TypeVar("Op", bound=Operation)
RULES = QueueRules()
LEASE_MS = RULES.visibility_ms


class Desk:
    """Short forms for groups of one operation; what fails is raised."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def commit(self, *operations: Operation, now: int) -> Committed:
        return await self.store.commit(operations, now)

    async def produce(
        self, queue: str, *messages: NewMessage | str, now: int, rules: QueueRules = RULES
    ) -> list[int]:
        return (await self._do(produce(queue, *messages, rules=rules), now)).ids

    async def claim(
        self, queue: str, limit: int = 1, *, now: int, lease_ms: int = LEASE_MS
    ) -> list[Claimed]:
        return (await self._do(Claim(queue, limit, lease_ms), now)).messages

    async def claim_due(
        self, queue: str, limit: int = 1, *, now: int, rules: QueueRules = RULES
    ) -> list[Claimed]:
        """A claim after the time that has passed was noticed, as the engine does it."""
        claim = Claim(queue, limit, LEASE_MS)
        await self.commit(Due(rules), claim, now=now)
        return claim.messages

    async def ack(self, queue: str, *messages: Claimed | Settled, now: int) -> list[bool]:
        return (await self._do(Ack(queue, [Settled(m.id, m.receipt) for m in messages]), now)).done

    async def nack(
        self, queue: str, *messages: Rejected, now: int, rules: QueueRules = RULES
    ) -> list[bool]:
        return (await self._do(Nack(queue, list(messages), rules), now)).done

    async def extend(self, queue: str, *messages: Prolonged, now: int) -> list[bool]:
        return (await self._do(Extend(queue, list(messages)), now)).done

    async def release(self, queue: str, *messages: Claimed, now: int) -> Committed:
        held = [Settled(message.id, message.receipt) for message in messages]
        return await self.commit(Release(queue, held), now=now)

    async def due(self, *, now: int, limit: int = 1_000, rules: QueueRules = RULES) -> Committed:
        return await self.commit(Due(rules, limit), now=now)

    async def _do(self, operation: Op, now: int) -> Op:
        await self.commit(operation, now=now)
        if operation.error is not None:
            raise operation.error
        return operation


def produce(queue: str, *messages: NewMessage | str, rules: QueueRules = RULES) -> Produce:
    new = [NewMessage(each) if isinstance(each, str) else each for each in messages]
    return Produce(queue, new, rules)


def contents(messages: list[Claimed]) -> list[str]:
    return [message.content for message in messages]
