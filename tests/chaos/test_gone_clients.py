"""Clients that go away take nothing with them and leave nothing behind."""

from __future__ import annotations

import asyncio
import time

from tests.chaos.processes import cpu_s, open_files, rss_bytes, workers
from tests.chaos.queue_client import QueueClient
from tests.chaos.wire import Connection, run
from tests.live import LiveServer

REQUESTS = 3_000
DISCONNECTS = 2_000
AT_ONCE = 200
# gunicorn keeps what belongs to a connection for so long after it was lost.
GRACE_S = 3.0


def test_what_was_claimed_for_a_client_that_left_comes_back_at_once(server: LiveServer) -> None:
    run(leave_inside_an_answer(server.port), within_s=20)


async def leave_inside_an_answer(port: int) -> None:
    leaver = await QueueClient.open(port, "large")
    leaver.connection.pause_reading()
    leaver.send_claim(1_000, wait_ms=30_000)
    await have_been_read(port)
    consumer = await QueueClient.open(port, "large")
    # More than the system keeps for a client that does not read.
    await consumer.produce_batch(["x" * 250_000] * 60)
    assert await consumer.claim() == []
    leaver.close()
    claimed = await consumer.claim(1_000, wait_ms=2_000)
    assert [each.attempts for each in claimed] == [1] * 60


def test_thousands_of_requests_and_disconnects_leave_no_trace(server: LiveServer) -> None:
    run(come_and_go(server), within_s=60)


async def come_and_go(server: LiveServer) -> None:
    (worker,) = workers(server)
    files = open_files(worker)
    await be_many(server.port, REQUESTS // 10, DISCONNECTS // 4)
    memory = rss_bytes(worker)
    await be_many(server.port, REQUESTS, DISCONNECTS)
    await asyncio.sleep(GRACE_S)
    used_s, since = cpu_s(worker), time.monotonic()
    await asyncio.sleep(1)
    share = (cpu_s(worker) - used_s) / (time.monotonic() - since)
    assert share < 0.05, f"{100 * share:.0f} % of a core for nothing"
    assert open_files(worker) == files
    grown = rss_bytes(worker) - memory
    assert grown < 12 << 20, f"{grown >> 20} MiB more"


async def be_many(port: int, requests: int, disconnects: int) -> None:
    await asyncio.gather(*(live_a_message(port, requests // 60) for _ in range(20)))
    for _ in range(disconnects // AT_ONCE):
        waiting = [await QueueClient.open(port, f"in-vain-{n % 7}") for n in range(AT_ONCE)]
        for client in waiting:
            client.send_claim(wait_ms=30_000)
        await have_been_read(port)
        for client in waiting:
            client.close()


async def live_a_message(port: int, times: int) -> None:
    client = await QueueClient.open(port, "busy")
    for _ in range(times):
        await client.produce("x")
        (message,) = await client.claim(wait_ms=1_000)
        assert (await client.ack(message)).status == 204
    client.close()


async def have_been_read(port: int) -> None:
    """When a request is answered, those that were sent before it have been read."""
    connection = await Connection.open(port)
    assert (await connection.request("GET", "/healthcheck")).status == 204
    connection.close()
