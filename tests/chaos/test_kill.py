"""kill -9 under load: what was answered has happened, once."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

import pytest

from tests.chaos.load import Ledger, Load
from tests.chaos.processes import workers
from tests.chaos.queue_client import QueueClient, messages
from tests.chaos.wire import Connection, run
from tests.forq.running import is_alive
from tests.live import LiveServer, live_server

KILLS = 5
QUEUE = "killed"


@pytest.mark.timeout(100)
def test_no_answer_is_taken_back_by_ten_kills_under_load(tmp_path: Path) -> None:
    folders = {each: tmp_path / each for each in ("full", "normal")}
    for folder in folders.values():
        folder.mkdir()

    async def both() -> None:
        await asyncio.gather(*(kill_again_and_again(folders[each], each) for each in folders))

    run(both(), within_s=90)


async def kill_again_and_again(folder: Path, durability: str) -> None:
    server = LiveServer(folder, FORQ_DURABILITY=durability)
    ledger = Ledger(QUEUE)
    try:
        for _ in range(KILLS):
            await asyncio.to_thread(server.start)
            await live_and_die(server, ledger)
            ledger.check_table(server.database)
        await asyncio.to_thread(server.start)
        await ledger.drain(server.port, server.database)
    finally:
        server.kill()
    assert len(ledger.acked) > 100 * KILLS, "not much of a load"
    assert set(ledger.statuses) == {200, 204}


async def live_and_die(server: LiveServer, ledger: Ledger) -> None:
    acked_before = len(ledger.acked)
    load = Load(server.port, ledger, may_cut=True)
    await load.start(producers=6, batch_producers=2, consumers=6)
    while len(ledger.acked) < acked_before + 100:  # noqa: ASYNC110 - the load is what goes on
        await asyncio.sleep(0.01)
    # At any point of whatever it is doing.
    await asyncio.sleep(random.uniform(0.05, 0.3))
    server.kill()
    await load.ended()


def test_a_worker_whose_parent_was_killed_answers_and_goes(tmp_path: Path) -> None:
    with live_server(tmp_path) as server:
        run(kill_the_parent(server), within_s=30)


async def kill_the_parent(server: LiveServer) -> None:
    (worker,) = workers(server)
    idle = await Connection.open(server.port)
    await idle.request("GET", "/healthcheck")
    waiting = await QueueClient.open(server.port, QUEUE)
    claim = waiting.send_claim(wait_ms=30_000)
    assert server.process is not None
    server.process.kill()
    killed_at = time.monotonic()
    assert messages(await claim) == []
    await idle.ended()
    while is_alive(worker):
        assert time.monotonic() - killed_at < 5, "it goes on without a parent"
        await asyncio.sleep(0.05)
