"""Ten thousand consumers that wait cost next to nothing, and hold nobody up."""

from __future__ import annotations

import asyncio
import resource
import time
from pathlib import Path
from statistics import median

import pytest

from tests.chaos.processes import cpu_s, rss_bytes, workers
from tests.chaos.queue_client import QueueClient
from tests.chaos.wire import Answer, Connection, run
from tests.live import LiveServer

WAITING = 10_000
QUEUES = 50
IDLE_S = 6.0
STOP_WITHIN_S = 10.0


@pytest.fixture
def many_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > WAITING + 1_000, f"a process may open only {hard} files here"
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.mark.usefixtures("many_files")
def test_10000_consumers_wait_in_one_process(tmp_path: Path) -> None:
    server = LiveServer(tmp_path)
    server.start()
    try:
        run(wait_together(server), within_s=80)
    finally:
        server.kill()
    assert not server.log.read_text()


async def wait_together(server: LiveServer) -> None:
    (worker,) = workers(server)
    polls = await start_waiting(server.port)
    await idle(worker)
    assert rss_bytes(worker) < 600 << 20
    await serve_others(server.port)
    assert not any(poll.done() for poll in polls)
    await wake_one(server.port, polls)
    await stop(server, polls)


async def start_waiting(port: int) -> list[asyncio.Future[Answer]]:
    polls = []
    for number in range(WAITING):
        # A few source addresses, so that ports do not run short.
        connection = await Connection.open(port, f"127.0.0.{2 + number % 4}")
        polls.append(connection.send("GET", f"/api/v1/queues/{queue(number)}/messages"))
    # When this one is answered, all before it have been read.
    last = await Connection.open(port)
    assert (await last.request("GET", "/healthcheck")).status == 204
    last.close()
    return polls


def queue(number: int) -> str:
    return f"waiting-{number % QUEUES}"


async def idle(worker: int) -> None:
    used_s, since = cpu_s(worker), time.monotonic()
    await asyncio.sleep(IDLE_S)
    share = (cpu_s(worker) - used_s) / (time.monotonic() - since)
    assert share < 0.1, f"{100 * share:.0f} % of a core for waiting"


async def serve_others(port: int) -> None:
    client = await QueueClient.open(port, "others")
    took_ms = []
    for number in range(200):
        since = time.monotonic()
        await client.produce(f"{number}")
        (message,) = await client.claim()
        await client.ack(message)
        took_ms.append(1000 * (time.monotonic() - since) / 3)
    client.close()
    assert median(took_ms) < 10, f"{median(took_ms):.1f} ms a request"


async def wake_one(port: int, polls: list[asyncio.Future[Answer]]) -> None:
    client = await QueueClient.open(port, queue(7))
    await client.produce("for one of you")
    done, _ = await asyncio.wait(polls, timeout=1, return_when=asyncio.FIRST_COMPLETED)
    (poll,) = done
    assert poll.result().json()["content"] == "for one of you"
    assert polls.index(poll) == 7, "not the first in line"
    await asyncio.sleep(0.1)
    assert sum(poll.done() for poll in polls) == 1
    polls.remove(poll)
    client.close()


async def stop(server: LiveServer, polls: list[asyncio.Future[Answer]]) -> None:
    assert server.process is not None
    since = time.monotonic()
    server.process.terminate()
    assert {(await poll).status for poll in polls} == {204}
    assert await asyncio.to_thread(server.process.wait, STOP_WITHIN_S) == 0
    assert time.monotonic() - since < STOP_WITHIN_S
