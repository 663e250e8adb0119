"""Talks as the Go original's SDKs and load harness do: what they rely on must go on working.

They know no receipts, no ids of what they produce, no bodies of acks; they poll with one request
at a time, over kept-alive HTTP/1.1 connections or over cleartext HTTP/2 by prior knowledge.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter

import httpx
import pytest

from tests.chaos.wire import run
from tests.live import SECRET, LiveServer

CONSUMERS = 40
PRODUCERS = 20
MESSAGES = 600
CONTENT = "x" * 1_024


@pytest.mark.parametrize("version", ["HTTP/1.1", "HTTP/2"])
def test_40_consumers_and_20_producers_get_along(server: LiveServer, version: str) -> None:
    received = run(exchange(server.url, version), within_s=40)
    assert received == Counter({f"{number} {CONTENT}": 1 for number in range(MESSAGES)})


async def exchange(url: str, version: str) -> Counter[str]:
    queue = f"{url}/api/v1/queues/go-{version[-1]}/messages"
    async with go_client(version) as client:
        harness = Harness(client, queue, version)
        await harness.run()
    return harness.received


def go_client(version: str) -> httpx.AsyncClient:
    """Go's http.Transport, or its http2.Transport with AllowHTTP."""
    is_2 = version == "HTTP/2"
    return httpx.AsyncClient(
        http1=not is_2,
        http2=is_2,
        headers={
            "X-API-Key": SECRET,
            "User-Agent": f"Go-http-client/{'2.0' if is_2 else '1.1'}",
            "Accept-Encoding": "gzip",
        },
        # Longer than the server lets a consumer wait.
        timeout=35,
        limits=httpx.Limits(max_connections=CONSUMERS + PRODUCERS),
    )


class Harness:
    def __init__(self, client: httpx.AsyncClient, queue: str, version: str) -> None:
        self._client = client
        self._queue = queue
        self._version = version
        self._numbers = iter(range(MESSAGES))
        self._nacked: set[str] = set()
        self.received: Counter[str] = Counter()

    async def run(self) -> None:
        consumers = [asyncio.create_task(self._consume()) for _ in range(CONSUMERS)]
        await asyncio.gather(*(self._produce() for _ in range(PRODUCERS)))
        while self.received.total() < MESSAGES:
            done, _ = await asyncio.wait(consumers, timeout=0.02)
            for consumer in done:
                consumer.result()
        for consumer in consumers:
            consumer.cancel()
        await asyncio.wait(consumers)

    async def _post(self, url: str, body: dict[str, object] | None = None) -> None:
        answer = await self._client.post(url, json=body)
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.http_version == self._version

    async def _produce(self) -> None:
        for number in self._numbers:
            # The SDKs always send processAfter; 0 is their "at once".
            process_after = int(time.time() * 1000) if number % 3 == 0 else 0
            body = {"content": f"{number} {CONTENT}", "processAfter": process_after}
            await self._post(self._queue, body)

    async def _consume(self) -> None:
        while True:
            answer = await self._client.get(self._queue)
            if answer.status_code == 204:
                continue
            assert answer.status_code == 200
            message = answer.json()
            assert isinstance(message["id"], str)
            assert isinstance(message["content"], str)
            path = f"{self._queue}/{message['id']}"
            if message["content"].startswith("1") and message["id"] not in self._nacked:
                self._nacked.add(message["id"])
                await self._post(f"{path}/nack")
            else:
                await self._post(f"{path}/ack")
                self.received[message["content"]] += 1
