"""Producers and consumers at full speed, and a ledger of what they were answered."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Awaitable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.chaos.queue_client import Message, QueueClient, messages
from tests.chaos.wire import Answer, Closed, Cut

FAILED = 2
STORED = """
    SELECT content, status FROM messages JOIN queues ON queues.id = queue_id WHERE name = ?
"""


@dataclass
class Ledger:
    """What must hold of a queue, whatever happens to the server: every answer is a promise."""

    queue: str
    visibility_ms: int = 2_000
    """How long each claim's lease is."""
    stored: set[str] = field(default_factory=set)
    """Produced, and the server said so."""
    perhaps_stored: list[list[str]] = field(default_factory=list)
    """Produced without a good answer, batch by batch."""
    acked: set[str] = field(default_factory=set)
    perhaps_acked: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    _held_until: dict[str, float] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=count)

    def contents(self, many: int) -> list[str]:
        """Fresh contents; each is used once."""
        return [f"message {next(self._numbers)}" for _ in range(many)]

    def deliver(self, claimed: list[Message], asked_at: float) -> None:
        """Note a claim's answer: nobody else may hold those messages, and none may be done."""
        now = time.monotonic()
        # The server counts in whole milliseconds.
        held_until = asked_at + self.visibility_ms / 1000 - 0.005
        for content in (each.content for each in claimed):
            assert content not in self.acked, f"{content} came back after its ack"
            assert self._held_until.get(content, 0) <= now, f"{content} is held by another"
            self._held_until[content] = held_until

    def let_go(self, claimed: list[Message]) -> None:
        for each in claimed:
            self._held_until.pop(each.content, None)

    def check_table(self, database: Path) -> set[str]:
        """Compare with what is stored; returns what can still be delivered."""
        with contextlib.closing(sqlite3.connect(database)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            rows = db.execute(STORED, (self.queue,)).fetchall()
        times = Counter(content for content, _ in rows)
        assert max(times.values(), default=1) == 1, times.most_common(3)
        there = set(times)
        lost = self.stored - self.acked - self.perhaps_acked - there
        assert not lost, f"{len(lost)} lost, such as {min(lost)}"
        back = there & self.acked
        assert not back, f"{len(back)} acked ones are there, such as {min(back)}"
        known = there | self.acked | self.perhaps_acked
        for batch in self.perhaps_stored:
            assert len(known.intersection(batch)) in (0, len(batch)), "half a batch is there"
        unasked = there - self.stored - {each for batch in self.perhaps_stored for each in batch}
        assert not unasked
        return {content for content, status in rows if status != FAILED}

    async def drain(self, port: int, database: Path) -> None:
        """Receive all that is there, each once, and nothing else."""
        left = self.check_table(database)
        client = await QueueClient.open(port, self.queue)
        while left:
            asked_at = time.monotonic()
            claimed = await client.claim(1_000, 2 * self.visibility_ms, self.visibility_ms)
            assert claimed, f"{len(left)} are there and do not come, such as {min(left)}"
            self.deliver(claimed, asked_at)
            contents = {each.content for each in claimed}
            assert len(contents) == len(claimed)
            assert contents <= left
            left -= contents
            settled = (await client.ack_batch(claimed)).json()
            assert settled == {"done": [each.id for each in claimed], "missed": []}
            self.acked |= contents
        assert await client.claim(1_000) == []
        client.close()
        assert self.check_table(database) == set()


class Load:
    """Keeps a queue busy until told to stop, or until the server ends the connections."""

    def __init__(self, port: int, ledger: Ledger, *, may_cut: bool = False) -> None:
        self._port = port
        self._ledger = ledger
        self._ends = (Closed, Cut) if may_cut else (Closed,)
        self._stopped = False
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, *, producers: int, batch_producers: int, consumers: int) -> None:
        for role, many in (
            (self._produce, producers),
            (self._produce_batches, batch_producers),
            (self._consume, consumers),
        ):
            for _ in range(many):
                client = await QueueClient.open(self._port, self._ledger.queue)
                self._tasks.append(asyncio.create_task(role(client)))

    async def ended(self) -> None:
        """Wait until the server has ended every connection, none inside an answer."""
        await asyncio.gather(*self._tasks)

    async def stop(self) -> None:
        """Let everyone finish what they are doing."""
        self._stopped = True
        await asyncio.gather(*self._tasks)

    async def _answer(self, answering: Awaitable[Answer]) -> Answer | None:
        """An answer, or None where the connection has ended."""
        try:
            answer = await answering
        except self._ends:
            return None
        self._ledger.statuses[answer.status] += 1
        return answer

    async def _produce(self, client: QueueClient) -> None:
        while not self._stopped and not client.connection.is_closed:
            contents = self._ledger.contents(1)
            self._note_produced(contents, await self._answer(client.produce(contents[0])))
        client.close()

    async def _produce_batches(self, client: QueueClient) -> None:
        while not self._stopped and not client.connection.is_closed:
            contents = self._ledger.contents(20)
            self._note_produced(contents, await self._answer(client.produce_batch(contents)))
        client.close()

    def _note_produced(self, contents: list[str], answer: Answer | None) -> None:
        if answer is not None and answer.status < 300:
            self._ledger.stored.update(contents)
        else:
            self._ledger.perhaps_stored.append(contents)

    async def _consume(self, client: QueueClient) -> None:
        while not self._stopped and not client.connection.is_closed:
            asked_at = time.monotonic()
            answer = await self._answer(client.send_claim(10, 100, self._ledger.visibility_ms))
            if answer is None or answer.status != 200:
                continue
            claimed = messages(answer)
            self._ledger.deliver(claimed, asked_at)
            await self._settle(client, claimed)
        client.close()

    async def _settle(self, client: QueueClient, claimed: list[Message]) -> None:
        """Give the first one back, ack the second alone, and the rest together."""
        ledger = self._ledger
        ledger.let_go(claimed)
        if claimed and claimed[0].attempts == 1:
            await self._answer(client.nack(claimed[0]))
            claimed = claimed[1:]
        ledger.perhaps_acked.update(each.content for each in claimed)
        if claimed:
            answer = await self._answer(client.ack(claimed[0]))
            if answer is not None and answer.status == 204:
                self._note_acked(claimed[:1])
        if claimed[1:]:
            answer = await self._answer(client.ack_batch(claimed[1:]))
            if answer is not None and answer.status == 200:
                done = set(answer.json()["done"])
                self._note_acked([each for each in claimed[1:] if each.id in done])

    def _note_acked(self, settled: list[Message]) -> None:
        contents = {each.content for each in settled}
        self._ledger.acked |= contents
        self._ledger.perhaps_acked -= contents
