"""The disk is full: writes are refused at once, nothing answered is lost, and it gets over it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Iterator
from pathlib import Path

import pytest

from tests.chaos.load import Ledger
from tests.chaos.processes import cpu_s, workers
from tests.chaos.queue_client import QueueClient, messages
from tests.chaos.wire import Answer, Connection, run
from tests.live import LiveServer

QUEUE = "full"
SIZE_MIB = 24
BALLAST_MIB = 18
AT_ONCE_S = 1.0
PADDING = "." * 40_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, small enough to fill."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m", "forq-test", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        if os.environ.get("CI"):
            pytest.fail(f"CI has to mount a tmpfs for this test: {done.stderr}")
        pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        # Lazily: a process that was just killed may still be about to go.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_full_disk_loses_nothing_and_is_got_over(tmp_path: Path, disk: Path) -> None:
    server = LiveServer(tmp_path, FORQ_DATA_DIR=str(disk))
    server.database = disk / "forq.db"
    server.start()
    try:
        run(fill_and_free(server, disk / "ballast"), within_s=30)
    finally:
        server.kill()
    log = server.log.read_text()
    assert "database or disk is full" in log, "nobody was told why"
    assert len(log.splitlines()) < 30, "a full disk fills the log"


async def fill_and_free(server: LiveServer, ballast: Path) -> None:
    ledger = Ledger(QUEUE)
    client = await QueueClient.open(server.port, QUEUE)
    await produce(client, ledger)
    await produce_for_later(client, ledger)
    await asyncio.to_thread(ballast.write_bytes, bytes(BALLAST_MIB << 20))
    while await produce(client, ledger):
        pass
    await refuse_writes(client, ledger)
    await go_on_reading(server, client, ledger)
    await stay_calm(server)

    await asyncio.to_thread(ballast.unlink)
    assert await produce(client, ledger), "it does not get over it"
    await ledger.drain(server.port, server.database)
    assert ledger.acked >= ledger.stored
    client.close()


async def at_once(answering: Awaitable[Answer]) -> Answer:
    asked_at = time.monotonic()
    answer = await answering
    assert time.monotonic() - asked_at < AT_ONCE_S
    return answer


async def produce(client: QueueClient, ledger: Ledger) -> bool:
    """Whether there was room for some messages."""
    contents = [content + PADDING for content in ledger.contents(10)]
    answer = await at_once(client.produce_batch(contents))
    if answer.status == 200:
        ledger.stored.update(contents)
        return True
    assert is_refusal(answer)
    ledger.perhaps_stored.append(contents)
    return False


async def produce_for_later(client: QueueClient, ledger: Ledger) -> None:
    (content,) = ledger.contents(1)
    wish = {"content": content, "processAfter": int(time.time() * 1000) + 500}
    assert (await client.connection.request("POST", client.path, wish)).status == 204
    ledger.stored.add(content)


def is_refusal(answer: Answer) -> bool:
    refusals = ((500, "internal"), (503, "forq.unhealthy"))
    return (answer.status, answer.json()["code"]) in refusals


async def refuse_writes(client: QueueClient, ledger: Ledger) -> None:
    """Small writes find room for a while, each is done or refused; none hangs."""
    refused = 0
    while refused < 20:
        asked_at = time.monotonic()
        answer = await at_once(client.send_claim(visibility_ms=ledger.visibility_ms))
        if answer.status != 200:
            assert is_refusal(answer)
            refused += 1
            continue
        claimed = messages(answer)
        ledger.deliver(claimed, asked_at)
        ledger.perhaps_acked.update(each.content for each in claimed)
        for message in claimed:
            answer = await at_once(client.ack(message))
            if answer.status == 204:
                ledger.acked.add(message.content)
                ledger.perhaps_acked.discard(message.content)
            else:
                assert is_refusal(answer)
                refused += 1


async def go_on_reading(server: LiveServer, client: QueueClient, ledger: Ledger) -> None:
    """Who asks for no write is served, whatever is refused to others at the same time."""
    health = await Connection.open(server.port)
    waiting = [await QueueClient.open(server.port, f"empty-{number}") for number in range(5)]
    claims = [each.send_claim(wait_ms=500) for each in waiting]
    while not all(claim.done() for claim in claims):
        assert not await produce(client, ledger)
        assert (await at_once(health.request("GET", "/healthcheck"))).status == 204
    assert [messages(claim.result()) for claim in claims] == [[]] * len(claims)


async def stay_calm(server: LiveServer) -> None:
    """A message has become due meanwhile and cannot be made ready: no reason to go mad."""
    (worker,) = workers(server)
    used_s, since = cpu_s(worker), time.monotonic()
    await asyncio.sleep(1.5)
    used_s = cpu_s(worker) - used_s
    assert used_s < 0.2 * (time.monotonic() - since), f"{used_s:.2f} s of CPU for nothing"
