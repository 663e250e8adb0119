"""A stop answers everyone, writes what was accepted, and leaves nothing claimed for nobody."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest

from queues.errors import ForqError
from queues.store.interface import StoreError
from queues.store.sqlite import SQLiteStore
from tests.queues.desk import Desk
from tests.queues.engine.conftest import Counter, texts
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


async def left_over(path: Path, now: int) -> list[tuple[str, int]]:
    """Content and attempts of what a next start would hand out at once."""
    store = SQLiteStore(path, full=False)
    store.open()
    try:
        return [(m.content, m.attempts) for m in await Desk(store).claim("q", 100, now=now)]
    finally:
        await store.close()


async def test_drain_answers_everyone_who_waits(counter: Counter, loop: MovedTimeLoop) -> None:
    consumers = [counter.ask(), counter.ask("other"), counter.ask()]
    await moment()
    start = loop.time()

    counter.engine.drain()

    assert [texts(each) for each in consumers] == [[], [], []]
    assert counter.engine.waiting == 0
    assert loop.time() == start


async def test_after_drain_requests_are_served_but_nobody_waits(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    counter.engine.drain()
    start = loop.time()

    assert await counter.ask(wait_ms=30_000).future == []
    await counter.produce("a")
    consumer = counter.ask(wait_ms=30_000)
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() == start


async def test_what_was_accepted_is_written_before_the_store_closes(
    counter: Counter, path: Path, loop: MovedTimeLoop
) -> None:
    counter.store.disk.clear()
    submitted = [asyncio.ensure_future(counter.produce("under way"))]
    await moment()
    submitted += [asyncio.ensure_future(counter.produce(str(n))) for n in range(2_500)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(counter.engine.close())
    await moment()
    with pytest.raises(ForqError, match="shutting_down"):
        await counter.produce("too late")
    assert not closing.done()

    counter.store.disk.set()
    await closing

    assert [each.result().error for each in submitted] == [None] * 2_501
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM messages").fetchone() == (2_501,)


@pytest.mark.parametrize("drained_before", [True, False])
async def test_nothing_stays_claimed_for_those_who_were_sent_away(
    counter: Counter, path: Path, loop: MovedTimeLoop, *, drained_before: bool
) -> None:
    consumer = counter.ask(limit=10)
    await moment()
    counter.store.disk.clear()
    submitted = asyncio.ensure_future(counter.produce("a", "b"))
    await moment()

    if drained_before:
        counter.engine.drain()
    closing = asyncio.ensure_future(counter.engine.close())
    await moment()
    counter.store.disk.set()
    await closing
    await submitted

    assert texts(consumer) == []
    assert await left_over(path, loop.now_ms()) == [("a", 1), ("b", 1)]


async def test_a_second_close_is_harmless(counter: Counter) -> None:
    await counter.engine.close()

    with contextlib.suppress(StoreError):
        await counter.engine.close()


async def test_no_timer_is_left_behind(counter: Counter, loop: MovedTimeLoop) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=1_000).future
    counter.ask()
    await moment()

    await counter.engine.close()

    timers = [each for each in loop._scheduled if not each.cancelled()]  # type: ignore[attr-defined]
    assert timers == []


async def test_a_lock_does_not_hold_up_the_stop_for_long(
    counter: Counter, path: Path, loop: MovedTimeLoop
) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as stranger:
        stranger.execute("BEGIN IMMEDIATE")
        submitted = asyncio.ensure_future(counter.produce("a"))
        await moment()
        start = loop.time()

        await counter.engine.close()

        assert loop.time() - start < 8
        with pytest.raises(StoreError):
            await submitted
