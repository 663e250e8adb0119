"""A consumer that goes away keeps no message, at whatever moment it goes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from queues.api.message_operations import MessageOperations
from queues.api.request import Request
from queues.api.wire import Message, Scope
from queues.engine.engine import Engine
from queues.rules import QueueRules
from queues.services.messages import MessageService
from queues.store.operations import NewMessage
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> object:
    return "asyncio", {"loop_factory": MovedTimeLoop}


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[MessageService]:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, MovedTimeLoop)
    rules = QueueRules()
    store = SQLiteStore(make_sqlite(tmp_path / "forq.db"), full=False)
    engine = Engine(store, rules=rules, clock=loop.now_ms)
    engine.start()
    yield MessageService(engine, queue_rules=rules, dlq_rules=rules, clock=loop.now_ms)
    await engine.close()


class Client:
    """One consumer's connection, which can break at any moment."""

    def __init__(self, service: MessageService) -> None:
        self.gone = asyncio.Event()
        self.broken = False
        self.statuses: list[int] = []
        scope: Scope = {
            "headers": [],
            "query_string": b"",
            "forq.closed": lambda: self.broken,
        }
        request = Request(scope, self._receive, self._send, "q", "")
        self.task = asyncio.ensure_future(MessageOperations(service).consume(request))

    async def _receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if self.gone.is_set():
            raise ConnectionResetError
        if message["type"] == "http.response.start":
            self.statuses.append(message["status"])


async def left(service: MessageService) -> list[tuple[str, int]]:
    """What a next consumer gets at once, with its attempts."""
    await moment()
    waiter = service.claim("q", limit=10, wait_ms=0, visibility_ms=None, on_wait=lambda _: None)
    return [(message.content, message.attempts) for message in await waiter.future]


async def send(service: MessageService) -> None:
    await service.produce("q", [NewMessage("a")], 1)


async def test_one_that_stays_gets_its_message(service: MessageService) -> None:
    client = Client(service)
    await moment()
    await send(service)
    await client.task

    assert client.statuses == [200]
    assert await left(service) == []


async def test_one_that_goes_while_it_waits(service: MessageService) -> None:
    client = Client(service)
    await moment()
    client.gone.set()
    await moment()
    await send(service)

    assert await left(service) == [("a", 1)]
    with contextlib.suppress(ConnectionResetError):
        await client.task


async def test_one_whose_request_is_cancelled_while_it_waits(service: MessageService) -> None:
    client = Client(service)
    await moment()
    client.task.cancel()
    await moment()
    await send(service)

    assert await left(service) == [("a", 1)]


async def test_one_whose_request_is_cancelled_the_moment_its_message_comes(
    service: MessageService,
) -> None:
    client = Client(service)
    await moment()
    await send(service)
    assert not client.task.done()
    client.task.cancel()
    await moment()

    assert client.statuses == []
    assert await left(service) == [("a", 1)]


async def test_one_that_is_known_to_be_gone_before_the_answer(service: MessageService) -> None:
    client = Client(service)
    await moment()
    await send(service)
    client.broken = True
    await client.task

    assert await left(service) == [("a", 1)]


async def test_one_whose_connection_breaks_under_the_answer(service: MessageService) -> None:
    client = Client(service)
    await moment()
    await send(service)
    client.gone.set()
    with pytest.raises(ConnectionResetError):
        await client.task

    assert await left(service) == [("a", 1)]
