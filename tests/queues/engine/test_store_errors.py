"""A lock is waited for, a failure is answered, and neither stops the engine."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from queues.engine.engine import LOCK_PATIENCE_S
from queues.store.interface import StoreBusy, StoreError, StoreUnavailable
from queues.store.operations import NewMessage, Produce
from tests.queues.engine.conftest import LEASE_MS, RULES, Counter, texts
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


@pytest.fixture
def stranger(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process that takes the write lock."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        yield connection


async def test_requests_wait_for_a_lock_and_none_is_lost(
    counter: Counter, stranger: sqlite3.Connection
) -> None:
    stranger.execute("BEGIN IMMEDIATE")
    consumer = counter.ask(wait_ms=20_000)
    submitted = [asyncio.ensure_future(counter.produce(str(n))) for n in range(20)]
    await asyncio.sleep(3)
    assert not any(each.done() for each in submitted)
    assert texts(consumer) is None

    stranger.execute("ROLLBACK")
    await asyncio.gather(*submitted)
    await moment()

    assert texts(consumer) == ["0"]
    assert [m.content for m in await counter.take(limit=99)] == [str(n) for n in range(1, 20)]


async def test_a_lock_that_is_free_again_is_soon_noticed(
    counter: Counter, stranger: sqlite3.Connection, loop: MovedTimeLoop
) -> None:
    stranger.execute("BEGIN IMMEDIATE")
    submitted = asyncio.ensure_future(counter.produce("a"))
    await asyncio.sleep(3)
    start = loop.time()

    stranger.execute("ROLLBACK")
    await submitted

    assert loop.time() - start <= 0.02


async def test_what_comes_while_a_group_waits_shares_the_next(
    counter: Counter, stranger: sqlite3.Connection
) -> None:
    stranger.execute("BEGIN IMMEDIATE")
    submitted = []
    for number in range(10):
        submitted.append(asyncio.ensure_future(counter.produce(str(number))))
        await asyncio.sleep(0.1)
    counter.store.groups.clear()

    stranger.execute("ROLLBACK")
    await asyncio.gather(*submitted)

    assert [len(group) for group in counter.store.groups[-2:]] == [1, 9]


async def test_a_held_lock_lets_nobody_wait_longer_than_they_asked_to(
    counter: Counter, stranger: sqlite3.Connection, loop: MovedTimeLoop
) -> None:
    stranger.execute("BEGIN IMMEDIATE")
    start = loop.time()

    assert await counter.ask(wait_ms=2_000).future == []

    assert loop.time() - start == pytest.approx(2, abs=0.1)
    stranger.execute("ROLLBACK")


async def test_patience_has_an_end(
    counter: Counter, stranger: sqlite3.Connection, loop: MovedTimeLoop
) -> None:
    stranger.execute("BEGIN IMMEDIATE")
    consumer = counter.ask(wait_ms=0)
    start = loop.time()

    with pytest.raises(StoreBusy):
        await counter.produce("a")
    assert loop.time() - start == pytest.approx(LOCK_PATIENCE_S, abs=0.1)
    assert consumer.future.result() == []

    stranger.execute("ROLLBACK")
    assert await counter.take() == []
    await counter.produce("b")
    assert [m.content for m in await counter.take(limit=5)] == ["b"]


@pytest.mark.parametrize("error", [StoreUnavailable("no disk"), StoreError("?"), OSError("odd")])
async def test_a_failure_is_answered_and_the_engine_goes_on(
    counter: Counter, error: Exception
) -> None:
    # Claims that fail with others because of the whole database are tried again alone.
    counter.store.refusals += [error] * (2 if isinstance(error, StoreUnavailable) else 1)
    submitted = [asyncio.ensure_future(counter.produce(text)) for text in "ab"]
    await asyncio.sleep(0)
    consumers = [counter.ask(), counter.ask(wait_ms=0)]

    outcomes = await asyncio.gather(*submitted, return_exceptions=True)
    await moment()

    assert [isinstance(each, StoreError) for each in outcomes] == [True, True]
    for each in consumers:
        assert isinstance(each.future.exception(), StoreError)
    assert counter.engine.waiting == 0
    waiting = counter.ask()
    await counter.produce("c")
    await waiting.future
    assert texts(waiting) == ["c"]


async def test_those_who_came_during_a_failing_claim_get_their_turn(counter: Counter) -> None:
    counter.store.refusals.append(StoreUnavailable("no disk"))
    first = counter.ask(limit=1_000)
    second = counter.ask(wait_ms=1_000)
    hasty = counter.ask(wait_ms=0)
    await moment()

    assert isinstance(first.future.exception(), StoreUnavailable)
    assert texts(hasty) == []
    await asyncio.sleep(1.1)
    assert texts(second) == []


async def test_time_passes_again_after_it_failed_to(counter: Counter, loop: MovedTimeLoop) -> None:
    later = NewMessage("a", process_after=loop.now_ms() + 1_000)
    await counter.engine.submit(Produce("q", [later], RULES))
    await asyncio.sleep(0.9)
    counter.store.refusals += [StoreUnavailable("no disk")] * 3

    await asyncio.sleep(6)

    assert counter.store.refusals == []
    assert [m.content for m in await counter.take()] == ["a"]


async def test_a_database_that_fails_is_not_asked_without_pause(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=LEASE_MS).future
    counter.store.refusals += [StoreUnavailable("no disk")] * 1_000
    asked = len(counter.store.refusals)

    await asyncio.sleep(LEASE_MS / 1_000 + 10)

    assert asked - len(counter.store.refusals) <= 50


async def test_ping_says_whether_the_engine_can_work(counter: Counter, path: Path) -> None:
    await counter.engine.ping()

    shutil.move(path, f"{path}.moved")
    with pytest.raises(StoreUnavailable):
        await counter.engine.ping()
