"""More than can be written soon is refused at once, and what was accepted is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from queues.engine.engine import Engine
from queues.errors import Overloaded
from queues.store.operations import Ack, Produce, Settled
from tests.queues.desk import produce
from tests.queues.engine.conftest import RULES, Counter, WatchedStore
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


@pytest.fixture
async def small(store: WatchedStore, loop: MovedTimeLoop) -> AsyncIterator[Counter]:
    """An engine for ten messages besides the one under way, or a thousand bytes."""
    engine = Engine(store, rules=RULES, clock=loop.now_ms, backlog_messages=11, backlog_bytes=1_000)
    engine.start()
    await asyncio.sleep(1)
    yield Counter(engine, store)
    store.disk.set()
    await engine.close()


async def hang(counter: Counter) -> asyncio.Task[Produce]:
    counter.store.disk.clear()
    submitted = asyncio.ensure_future(counter.produce("under way"))
    await moment()
    return submitted


async def test_operations_beyond_the_backlog_are_refused_at_once(small: Counter) -> None:
    under_way = await hang(small)
    accepted = [asyncio.ensure_future(small.produce(str(n))) for n in range(10)]
    await moment()

    with pytest.raises(Overloaded) as raised:
        await small.produce("one too many")
    with pytest.raises(Overloaded):
        await small.engine.submit(Ack("q", [Settled(1)]))

    assert (raised.value.status, raised.value.code) == (429, "overloaded")
    assert dict(raised.value.headers)[b"retry-after"].isdigit()
    small.store.disk.set()
    await asyncio.gather(under_way, *accepted)
    stored = [m.content for m in await small.take(limit=100)]
    assert stored == ["under way", *(str(n) for n in range(10))]


async def test_a_batch_counts_by_its_messages(small: Counter) -> None:
    under_way = await hang(small)

    with pytest.raises(Overloaded):
        await small.produce(*"0123456789a")
    fits = asyncio.ensure_future(small.produce(*"0123456789"))
    await moment()

    small.store.disk.set()
    await asyncio.gather(under_way, fits)
    assert len(await small.take(limit=100)) == 11


async def test_bytes_beyond_the_backlog_are_refused_at_once(small: Counter) -> None:
    under_way = await hang(small)
    submit = small.engine.submit
    accepted = [asyncio.ensure_future(submit(produce("q", "x"), 400)) for _ in range(2)]
    await moment()

    with pytest.raises(Overloaded):
        await submit(produce("q", "x"), 201)
    fits = asyncio.ensure_future(submit(produce("q", "y"), 200))
    await moment()

    small.store.disk.set()
    await asyncio.gather(under_way, *accepted, fits)
    assert [m.content for m in await small.take(limit=100)] == ["under way", "x", "x", "y"]


async def test_the_backlog_is_free_again_once_it_is_written(small: Counter) -> None:
    for _ in range(5):
        under_way = await hang(small)
        submit = small.engine.submit
        accepted = [asyncio.ensure_future(submit(produce("q", "x"), 100)) for _ in range(10)]
        await moment()
        with pytest.raises(Overloaded):
            await small.produce("x")
        small.store.disk.set()
        await asyncio.gather(under_way, *accepted)

    assert len(await small.take(limit=100)) == 55


async def test_the_backlog_is_free_again_after_failures_and_departures(small: Counter) -> None:
    for _ in range(3):
        under_way = await hang(small)
        submit = small.engine.submit
        submitted = [
            asyncio.ensure_future(submit(produce("q", "\ud800"), 300)),
            asyncio.ensure_future(submit(produce("q", "gone"), 300)),
        ]
        await moment()
        submitted[1].cancel()
        small.store.disk.set()
        await asyncio.gather(under_way, *submitted, return_exceptions=True)

    await small.engine.submit(produce("q", "last"), 1_000)
    assert [m.content for m in await small.take(limit=100)] == ["under way", "gone"] * 3 + ["last"]


async def test_what_is_given_back_is_never_refused(small: Counter) -> None:
    await small.produce("a")
    held = await small.take()
    under_way = await hang(small)
    accepted = [asyncio.ensure_future(small.produce(str(n))) for n in range(10)]
    await moment()

    small.engine.release("q", held)
    small.store.disk.set()
    await asyncio.gather(under_way, *accepted)

    assert [m.content for m in await small.take()] == ["a"]
