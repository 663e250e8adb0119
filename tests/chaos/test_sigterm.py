"""Told to stop under load: what is under way is answered, nobody is kept waiting, it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.load import Ledger, Load
from tests.chaos.processes import family
from tests.chaos.queue_client import QueueClient, messages
from tests.chaos.wire import Connection, run
from tests.forq.running import is_alive
from tests.live import LiveServer

QUEUE = "stopped"
STOP_WITHIN_S = 10.0


def terminate(pid: int) -> None:
    os.kill(pid, signal.SIGTERM)


def press_ctrl_c(pid: int) -> None:
    """A terminal sends it to every process of the foreground group."""
    os.killpg(pid, signal.SIGINT)


# Two at a time, to save time.
@pytest.mark.parametrize(
    "stops",
    [{"api": terminate, "serve": press_ctrl_c}, {"api": press_ctrl_c, "serve": terminate}],
    ids=["SIGTERM to api, Ctrl-C on serve", "Ctrl-C on api, SIGTERM to serve"],
)
def test_a_stop_under_load_breaks_no_promise(
    tmp_path: Path, stops: dict[str, Callable[[int], None]]
) -> None:
    for part in stops:
        (tmp_path / part).mkdir()
    durability = {"api": "full", "serve": "normal"}
    servers = {
        part: LiveServer(tmp_path / part, part, FORQ_DURABILITY=durability[part]) for part in stops
    }

    async def both() -> None:
        await asyncio.gather(*(live_and_stop(servers[part], stops[part]) for part in stops))

    try:
        run(both(), within_s=40)
    finally:
        for server in servers.values():
            server.kill()


async def live_and_stop(server: LiveServer, stop: Callable[[int], None]) -> None:
    await asyncio.to_thread(server.start)
    assert server.process is not None
    processes = family(server.process.pid)
    ledger = await stop_under_load(server, stop)
    assert not [pid for pid in processes if is_alive(pid)]
    assert "Traceback" not in await asyncio.to_thread(server.log.read_text)
    assert set(ledger.statuses) == {200, 204}
    ledger.check_table(server.database)


async def stop_under_load(server: LiveServer, stop: Callable[[int], None]) -> Ledger:
    assert server.process is not None
    ledger = Ledger(QUEUE)
    load = Load(server.port, ledger)
    await load.start(producers=6, batch_producers=2, consumers=6)
    waiting = [await QueueClient.open(server.port, "empty") for _ in range(20)]
    claims = [client.send_claim(wait_ms=30_000) for client in waiting]
    consumes = [await Connection.open(server.port) for _ in range(20)]
    polls = [each.send("GET", "/api/v1/queues/empty/messages") for each in consumes]
    idle = [await Connection.open(server.port) for _ in range(10)]
    for each in idle:
        await each.request("GET", "/healthcheck")
    silent = [await Connection.open(server.port) for _ in range(3)]
    hesitant = await Connection.open(server.port)
    hesitant.send_raw(b"GET /healthcheck HT")
    while len(ledger.acked) < 200:  # noqa: ASYNC110 - the load is what goes on
        await asyncio.sleep(0.01)

    stopped_at = time.monotonic()
    stop(server.process.pid)
    for claim in claims:
        assert messages(await claim) == []
    for poll in polls:
        assert (await poll).status == 204
    answered_at = max(future.result().at for future in [*claims, *polls])
    assert answered_at - stopped_at < 2, "waiting consumers were kept waiting"
    for each in [*idle, *silent]:
        await each.ended()
    assert time.monotonic() - stopped_at < 2, "idle connections were kept open"
    with contextlib.suppress(ConnectionRefusedError):
        await Connection.open(server.port)
        raise AssertionError("a new connection was accepted")
    await load.ended()
    await hesitant.ended()
    code = await asyncio.to_thread(server.process.wait, STOP_WITHIN_S)
    assert code == 0
    assert time.monotonic() - stopped_at < STOP_WITHIN_S
    return ledger
