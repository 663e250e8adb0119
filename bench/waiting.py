"""Consumers that wait: how soon a message reaches them, and what ten thousand of them cost."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from pathlib import Path

import msgspec
import uvloop

from bench.client import request
from bench.report import Report
from bench.server import Server, running

_PATH = "/api/v1/queues/waiting/messages"
_PRODUCE = request("POST", _PATH, msgspec.json.encode({"content": "wake up"}))
_CONSUME = request("GET", _PATH)


def run(report: Report, *, quick: bool) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    many = 1_000 if quick else 10_000
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name)) as server,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        waits = sorted(runner.run(_wake_up(server, 100, 200 if quick else 2_000)))
        cpu, memory, others = runner.run(_hold(server, many))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    p50, p99 = waits[len(waits) // 2] * 1000, waits[int(len(waits) * 0.99)] * 1000
    report.table(
        "Waiting consumers, durability full",
        ["", "value"],
        [
            ["produce answered → message received, 100 wait, p50 ms", f"{p50:.2f}"],
            ["the same, p99 ms", f"{p99:.2f}"],
            [f"{many:,} wait: CPU, % of a core", cpu * 100],
            [f"{many:,} wait: memory, MB", memory],
            [f"{many:,} wait: produce of another queue, median ms", f"{others * 1000:.2f}"],
        ],
    )
    report.bar("wake-up p50 ms", p50, 5)
    report.bar("wake-up p99 ms", p99, 25)
    report.bar(f"{many:,} waiting, % of a core", cpu * 100, 10)
    report.bar(f"{many:,} waiting, MB", memory, 600)


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _wake_up(server: Server, waiting: int, rounds: int) -> list[float]:
    """Seconds from the producer's answer to the message; negative when the message was first."""
    consumers = [await _connect(server, at) for at in range(waiting)]
    producer = await _connect(server, 0)
    arrived: asyncio.Queue[tuple[float, Stream]] = asyncio.Queue()

    async def wait(stream: Stream) -> None:
        await _answer(stream)
        arrived.put_nowait((time.perf_counter(), stream))

    tasks = set()
    for stream in consumers:
        stream[1].write(_CONSUME)
        tasks.add(asyncio.create_task(wait(stream)))
    await asyncio.sleep(0.5)
    seconds = []
    for _ in range(rounds):
        producer[1].write(_PRODUCE)
        await _answer(producer)
        answered = time.perf_counter()
        received, stream = await arrived.get()
        seconds.append(max(0.0, received - answered))
        stream[1].write(_CONSUME)
        tasks.add(asyncio.create_task(wait(stream)))
    for task in tasks:
        task.cancel()
    for _, writer in [*consumers, producer]:
        writer.close()
    await asyncio.sleep(0.5)
    return seconds


async def _hold(server: Server, count: int) -> tuple[float, float, float]:
    """Cores used while so many wait and nothing happens, MB, and seconds for another's produce."""
    streams = []
    for at in range(count):
        stream = await _connect(server, at)
        stream[1].write(_CONSUME)
        streams.append(stream)
    await asyncio.sleep(2)
    cpu, started = server.cpu_s(), time.perf_counter()
    await asyncio.sleep(8)
    cores = (server.cpu_s() - cpu) / (time.perf_counter() - started)
    memory = server.memory_mb()
    other = await _connect(server, 0)
    times = []
    for _ in range(200):
        started = time.perf_counter()
        other[1].write(_PRODUCE.replace(b"/waiting/", b"/another/"))
        await _answer(other)
        times.append(time.perf_counter() - started)
    for _, writer in [*streams, other]:
        writer.close()
    return cores, memory, sorted(times)[100]


async def _connect(server: Server, at: int) -> Stream:
    # One source address has too few ports for all of them.
    source = (f"127.0.{at // 5_000 + 1}.1", 0)
    return await asyncio.open_connection("127.0.0.1", server.port, local_addr=source)


async def _answer(stream: Stream) -> bytes:
    head = await stream[0].readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return head + await stream[0].readexactly(int(line[15:]))
    return head
