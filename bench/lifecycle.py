"""Produce, claim and ack of many messages through the server, phase by phase."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec
import uvloop

from bench.client import request, send_all
from bench.server import Server

CONTENT = "x" * 200


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one operation on one message: CPU time in microseconds, and messages per second."""

    cpu_us: float
    rate: float


@dataclass(frozen=True, slots=True)
class Lifecycle:
    produce: Cost
    claim: Cost
    ack: Cost

    @property
    def cpu_us(self) -> float:
        return self.produce.cpu_us + self.claim.cpu_us + self.ack.cpu_us

    @property
    def rate(self) -> float:
        """Whole lives of messages per second."""
        return 1 / sum(1 / cost.rate for cost in (self.produce, self.claim, self.ack))


Answered = Callable[[bytes, bytes], None]


def single(server: Server, connections: int, count: int) -> Lifecycle:
    path = "/api/v1/queues/bench/messages"
    produce = request("POST", path, msgspec.json.encode({"content": CONTENT}))
    consume = request("GET", f"{path}?waitMs=0")
    held: list[bytes] = []

    def take(_head: bytes, body: bytes) -> None:
        message = msgspec.json.decode(body)
        receipt = f"X-Forq-Receipt: {message['receipt']}\r\n"
        held.append(request("POST", f"{path}/{message['id']}/ack", headers=receipt))

    return Lifecycle(
        _phase(server, connections, [produce] * count, _expect(b"204"), 1),
        _phase(server, connections, [consume] * count, take, 1),
        _phase(server, connections, held, _expect(b"204"), 1),
    )


def batches(server: Server, connections: int, count: int, size: int) -> Lifecycle:
    path = "/api/v1/queues/bench/messages"
    messages = {"messages": [{"content": CONTENT}] * size}
    produce = request("POST", f"{path}/batch", msgspec.json.encode(messages))
    claim = request("POST", f"{path}/claim", b'{"max":%d,"waitMs":0}' % size)
    held: list[bytes] = []

    def take(_head: bytes, body: bytes) -> None:
        claimed = msgspec.json.decode(body)["messages"]
        assert len(claimed) == size
        settled = [{"id": each["id"], "receipt": each["receipt"]} for each in claimed]
        held.append(request("POST", f"{path}/ack", msgspec.json.encode({"messages": settled})))

    rounds = count // size
    return Lifecycle(
        _phase(server, connections, [produce] * rounds, _expect(b"200"), size),
        _phase(server, connections, [claim] * rounds, take, size),
        _phase(server, connections, held, _expect(b"200"), size),
    )


def _expect(status: bytes) -> Answered:
    def answered(head: bytes, body: bytes) -> None:
        assert head[9:12] == status, head + body

    return answered


def _phase(
    server: Server, connections: int, requests: Iterable[bytes], answered: Answered, size: int
) -> Cost:
    upcoming = list(requests)
    cpu, started = server.cpu_s(), time.perf_counter()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(send_all(server.port, connections, iter(upcoming), answered))
    elapsed = time.perf_counter() - started
    messages = len(upcoming) * size
    return Cost((server.cpu_s() - cpu) / messages * 1e6, messages / elapsed)
