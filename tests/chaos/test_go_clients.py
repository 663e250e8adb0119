"""Talks as the Go original's SDKs and load harness do: what they rely on must go on working.

They know no receipts, no ids of what they produce and no body of an ack; they ask for one message
at a time, over kept-alive HTTP/1.1 connections or over cleartext HTTP/2 by prior knowledge.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from tests.chaos.multiplexed import Multiplexed
from tests.chaos.wire import Answer, Connection, run
from tests.live import SECRET, LiveServer

CONSUMERS = 40
PRODUCERS = 20
LOAD_S = 2.0
CONTENT = "x" * 1_024

Ask = Callable[[str, str, dict[str, object] | None], "asyncio.Future[Answer]"]


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/2"])
def test_40_consumers_and_20_producers_get_along(server: LiveServer, version: str) -> None:
    harness = Harness(f"/api/v1/queues/go-{version[-1]}/messages")
    run(harness.run(server.port, CONNECT[version]), within_s=30)
    assert len(harness.produced) > 200, "not much of a load"
    assert harness.received == Counter(harness.produced)


async def connect_1(port: int) -> list[Ask]:
    """Go's http.Transport: a kept-alive connection for each request under way."""

    def asking(connection: Connection) -> Ask:
        headers = {"User_Agent": "Go-http-client/1.1", "Accept_Encoding": "gzip"}
        return lambda method, path, body: connection.send(method, path, body, **headers)

    return [asking(await Connection.open(port)) for _ in range(CONSUMERS + PRODUCERS)]


async def connect_2(port: int) -> list[Ask]:
    """Go's http2.Transport with AllowHTTP: one connection for all."""
    shared = await Multiplexed.open(port)

    def ask(method: str, path: str, body: dict[str, object] | None) -> asyncio.Future[Answer]:
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"x-api-key": SECRET}
        if body is not None:
            headers["content-type"] = "application/json"
        if method == "POST":
            headers["content-length"] = f"{len(content)}"
        headers |= {"accept-encoding": "gzip", "user-agent": "Go-http-client/2.0"}
        return shared.send(method, path, headers, content)

    return [ask] * (CONSUMERS + PRODUCERS)


CONNECT = {"HTTP/1.1": connect_1, "HTTP/2": connect_2}


class Harness:
    def __init__(self, path: str) -> None:
        self._path = path
        self._nacked: set[str] = set()
        self.produced: list[str] = []
        self.received: Counter[str] = Counter()

    async def run(self, port: int, connect: Callable[[int], Awaitable[list[Ask]]]) -> None:
        asks = await connect(port)
        consumers = [asyncio.create_task(self._consume(ask)) for ask in asks[:CONSUMERS]]
        await asyncio.gather(*(self._produce(ask) for ask in asks[CONSUMERS:]))
        while self.received.total() < len(self.produced):
            done, _ = await asyncio.wait(consumers, timeout=0.02)
            for consumer in done:
                consumer.result()
        for consumer in consumers:
            consumer.cancel()
        await asyncio.wait(consumers)

    async def _produce(self, ask: Ask) -> None:
        until = time.monotonic() + LOAD_S
        while time.monotonic() < until:
            number = len(self.produced)
            self.produced.append(f"{number} {CONTENT}")
            # The SDKs always send processAfter; 0 is their "at once".
            process_after = int(time.time() * 1000) if number % 3 == 0 else 0
            body = {"content": self.produced[-1], "processAfter": process_after}
            expect_nothing(await ask("POST", self._path, body))

    async def _consume(self, ask: Ask) -> None:
        while True:
            answer = await ask("GET", self._path, None)
            if answer.status == 204:
                continue
            assert answer.status == 200, answer
            message_id, content = answer.json()["id"], answer.json()["content"]
            if content.startswith("1") and message_id not in self._nacked:
                self._nacked.add(message_id)
                expect_nothing(await ask("POST", f"{self._path}/{message_id}/nack", None))
            else:
                expect_nothing(await ask("POST", f"{self._path}/{message_id}/ack", None))
                self.received[content] += 1


def expect_nothing(answer: Answer) -> None:
    assert (answer.status, answer.body) == (204, b""), answer
