"""Another process holds SQLite's write lock: requests wait for it, but not for ever."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from queues.api.auth import Gate
from queues.api.express import Express
from queues.api.wire import Receive, Scope, Send
from queues.engine.engine import Engine
from queues.rules import QueueRules
from queues.services.messages import MessageService
from queues.store.sqlite import SQLiteStore
from tests.chaos.load import Ledger, Load
from tests.chaos.queue_client import QueueClient
from tests.chaos.wire import Connection, run
from tests.live import SECRET, LiveServer, live_server

QUEUE = "locked"
HELD_S = 3.0
STOP_WITHIN_S = 10.0


@contextlib.contextmanager
def write_lock(database: Path) -> Iterator[None]:
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


def test_requests_wait_for_the_lock_but_not_for_ever(tmp_path: Path) -> None:
    with live_server(tmp_path) as server:
        ledger = run(hold_for_a_while(server), within_s=20)
        assert set(ledger.statuses) == {200, 204}
        run(stop_while_held(server), within_s=20)
    ledger.check_table(server.database)
    run(outlast_the_patience(server.database), within_s=10)


async def hold_for_a_while(server: LiveServer) -> Ledger:
    # No lease ends while its ack has to wait.
    ledger = Ledger(QUEUE, visibility_ms=10_000)
    load = Load(server.port, ledger)
    await load.start(producers=6, batch_producers=2, consumers=6)
    while not ledger.acked:  # noqa: ASYNC110 - the load is what goes on
        await asyncio.sleep(0.01)
    health = await Connection.open(server.port)
    with write_lock(server.database):
        held_at = time.monotonic()
        while (now := time.monotonic()) < held_at + HELD_S:
            assert (await health.request("GET", "/healthcheck")).status == 204
            assert time.monotonic() - now < 0.5, "the lock holds up the health check"
            await asyncio.sleep(0.1)
        stored = len(ledger.stored)
    while len(ledger.stored) <= stored:  # noqa: ASYNC110 - the load is what goes on
        await asyncio.sleep(0.01)
    await load.stop()
    await ledger.drain(server.port, server.database)
    return ledger


async def stop_while_held(server: LiveServer) -> None:
    """Who cannot be served before the server has to go is told so; who never ends is left."""
    unending = await Connection.open(server.port)
    unending.send_raw(
        b"POST /api/v1/queues/q/messages HTTP/1.1\r\nHost: forq\r\nX-API-Key: %b\r\n"
        b"Content-Length: 1000\r\n\r\n{" % SECRET.encode()
    )
    client = await QueueClient.open(server.port, QUEUE)
    assert server.process is not None
    with write_lock(server.database):
        produce = asyncio.create_task(client.produce("too late"))
        await asyncio.sleep(0.1)
        server.process.terminate()
        answer = await produce
        assert (answer.status, answer.json()) == (503, {"code": "forq.unhealthy"})
        assert await asyncio.to_thread(server.process.wait, STOP_WITHIN_S) == 0


async def outlast_the_patience(database: Path) -> None:
    rules = QueueRules()
    engine = Engine(SQLiteStore(database, full=True), rules=rules, lock_patience_s=0.3)
    service = MessageService(engine, queue_rules=rules, dlq_rules=rules)
    express = Express(service, Gate(SECRET, trust_proxy=False), nothing_else)
    engine.start()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(express),
        base_url="http://forq",
        headers={"X-API-Key": SECRET},
    ) as client:
        path = f"/api/v1/queues/{QUEUE}/messages"
        with write_lock(database):
            produced, consumed = await asyncio.gather(
                client.post(path, json={"content": "too long"}), client.get(f"{path}?waitMs=5000")
            )
        for answer in (produced, consumed):
            assert (answer.status_code, answer.json()) == (503, {"code": "forq.unhealthy"})
        assert (await client.get(f"{path}?waitMs=0")).status_code == 204
        assert (await client.post(path, json={"content": "in time"})).status_code == 204
        assert (await client.get(path)).json()["content"] == "in time"
    await engine.close()


async def nothing_else(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError(scope["path"])
