"""No message lies ready while somebody waits for it, whatever else goes on."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import time

import pytest

from tests.chaos.queue_client import QueueClient, messages
from tests.chaos.wire import Answer, run
from tests.live import LiveServer

QUEUE = "restless"
LOAD_S = 3.0
LOOK_EVERY_S = 0.02
TOO_LONG_S = 0.2
# Ready, or ready but for somebody who notices that its time has come.
AVAILABLE = """
    SELECT messages.id, updated_at FROM messages JOIN queues ON queues.id = queue_id
    WHERE name = ?1 AND CASE status
        WHEN 0 THEN TRUE WHEN 1 THEN lease_until <= ?2 WHEN 3 THEN process_after <= ?2 END
"""


@pytest.mark.parametrize("which", ["server", "two_workers"])
def test_no_ready_message_lies_while_a_consumer_waits(
    request: pytest.FixtureRequest, which: str
) -> None:
    server: LiveServer = request.getfixturevalue(which)
    run(Unrest(server).go_on(), within_s=LOAD_S + 15)
    assert "Traceback" not in server.log.read_text()


def test_nobody_in_a_crowd_waits_longer_than_they_asked_to(server: LiveServer) -> None:
    for number in range(12):
        run(come_at_once(server.port, f"crowd-{number}"), within_s=5)


async def come_at_once(port: int, queue: str) -> None:
    crowd = [await QueueClient.open(port, queue) for _ in range(20)]
    asked_at = time.monotonic()
    # Each wants all that one transaction gives out.
    claims = [client.send_claim(1_000, wait_ms=50) for client in crowd]
    for claim in claims:
        assert messages(await claim) == []
    assert time.monotonic() - asked_at < 0.05 + TOO_LONG_S


class Unrest:
    def __init__(self, server: LiveServer) -> None:
        self._port = server.port
        self._database = server.database
        self._until = time.monotonic() + LOAD_S
        self._waiting: dict[object, float] = {}
        self.delivered = 0

    async def go_on(self) -> None:
        await asyncio.gather(
            *(self._consume() for _ in range(12)),
            *(self._produce() for _ in range(3)),
            self._look(),
        )
        assert self.delivered > 100 * LOAD_S, "not much of a load"

    def _on(self) -> bool:
        return time.monotonic() < self._until

    async def _produce(self) -> None:
        client = await QueueClient.open(self._port, QUEUE)
        while self._on():
            many = random.choice((1, 1, 1, 7))
            answer = await client.produce_batch(["x"] * many)
            assert answer.status == 200
            await asyncio.sleep(random.choice((0, 0.002, 0.01, 0.1)))
        client.close()

    async def _consume(self) -> None:
        client = await QueueClient.open(self._port, QUEUE)
        while self._on():
            wait_ms = random.choice((0, 5, 100, 1_000))
            claim = client.send_claim(random.choice((1, 1, 3, 1_000)), wait_ms, 1_000)
            if random.random() < 0.1:
                # Goes away, waiting or not. What it may just have been given is not its lease's
                # length away from coming back, but one second.
                await asyncio.sleep(random.choice((0, 0.001, 0.05)))
                client.close()
                client = await QueueClient.open(self._port, QUEUE)
                continue
            await self._settle(client, await self._wait(claim, wait_ms))
        client.close()

    async def _wait(self, claim: asyncio.Future[Answer], wait_ms: int) -> Answer:
        asked_at = time.monotonic()
        self._waiting[claim] = asked_at
        answer = await claim
        del self._waiting[claim]
        took_s = answer.at - asked_at
        assert took_s < wait_ms / 1000 + TOO_LONG_S, f"{took_s:.3f} s for a wait of {wait_ms} ms"
        return answer

    async def _settle(self, client: QueueClient, answer: Answer) -> None:
        claimed = messages(answer)
        self.delivered += len(claimed)
        if len(claimed) == 1:
            (message,) = claimed
            if random.random() < 0.3:
                answer = await client.nack(message, delay_ms=random.choice((0, 0, 1, 30, 150)))
            else:
                answer = await client.ack(message)
            assert answer.status == 204
        elif claimed:
            assert (await client.ack_batch(claimed)).status == 200

    async def _look(self) -> None:
        """Look for messages that have been available for too long, while somebody waited."""
        since: dict[tuple[int, int], float] = {}
        with contextlib.closing(sqlite3.connect(self._database)) as db:
            while self._on():
                rows = set(db.execute(AVAILABLE, (QUEUE, int(time.time() * 1000))).fetchall())
                now = time.monotonic()
                since = {row: since.get(row, now) for row in rows}
                waited_since = min(self._waiting.values(), default=now)
                for row, available_since in since.items():
                    lies_s = now - max(available_since, waited_since)
                    assert lies_s < TOO_LONG_S, f"{row} lies for {lies_s:.3f} s"
                await asyncio.sleep(LOOK_EVERY_S)
