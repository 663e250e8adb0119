"""Two API processes on one SQLite file, under mixed load."""

from __future__ import annotations

import asyncio

from tests.chaos.load import Ledger, Load
from tests.chaos.processes import cpu_s, workers
from tests.chaos.queue_client import Message, QueueClient
from tests.chaos.wire import run
from tests.live import LiveServer

LOAD_S = 5.0


def test_nothing_is_lost_or_held_twice(two_workers: LiveServer) -> None:
    ledger = run(mixed_load(two_workers), within_s=30)
    assert set(ledger.statuses) == {200, 204}
    assert len(ledger.acked) > 500, "not much of a load"
    used_s = [cpu_s(worker) for worker in workers(two_workers)]
    assert len(used_s) == 2
    assert min(used_s) > 0.1 * sum(used_s), f"one of them did all the work: {used_s}"


async def mixed_load(server: LiveServer) -> Ledger:
    ledger = Ledger("shared")
    load = Load(server.port, ledger)
    await load.start(producers=8, batch_producers=2, consumers=12)
    await asyncio.sleep(LOAD_S)
    await load.stop()
    await ledger.drain(server.port, server.database)
    return ledger


def test_messages_come_in_the_order_they_were_stored(two_workers: LiveServer) -> None:
    run(keep_order(two_workers), within_s=20)


async def keep_order(server: LiveServer) -> None:
    async def produce(name: str) -> None:
        # So many connections that some go to the one process and some to the other.
        line = [await QueueClient.open(server.port, "ordered") for _ in range(8)]
        for number in range(200):
            answer = await line[number % len(line)].produce(f"{name} {number}")
            assert answer.status == 204

    names = [f"producer {number}" for number in range(4)]
    await asyncio.gather(*(produce(name) for name in names))
    consumers = [await QueueClient.open(server.port, "ordered") for _ in range(8)]
    received: list[Message] = []
    while claimed := await consumers[len(received) % len(consumers)].claim(37):
        received += claimed
    assert [each.id for each in received] == sorted(each.id for each in received)
    for name in names:
        mine = [each.content for each in received if each.content.startswith(f"{name} ")]
        assert mine == [f"{name} {number}" for number in range(200)]
