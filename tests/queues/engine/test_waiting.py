"""Consumers wait in line: served in the order they came, and no longer than they asked to."""

from __future__ import annotations

import asyncio

import pytest

from queues.engine.waiting import Waiter
from queues.errors import ForqError
from queues.limits import MAX_BATCH
from queues.store import sqlite_operations
from queues.store.operations import Claim
from tests.queues.engine.conftest import LEASE_MS, Counter, texts
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


async def test_what_is_there_is_handed_out_at_once(counter: Counter) -> None:
    await counter.produce("a", "b", "c")
    waited: list[Waiter] = []

    consumer = counter.ask(limit=2, on_wait=waited.append)
    await consumer.future

    assert texts(consumer) == ["a", "b"]
    assert waited == []


async def test_who_waits_is_served_in_order_of_arrival(counter: Counter) -> None:
    consumers = [counter.ask() for _ in range(20)]
    await moment()

    for number in range(20):
        await counter.produce(str(number))
        await moment()

    assert [texts(each) for each in consumers] == [[str(number)] for number in range(20)]


async def test_messages_that_come_together_are_shared_out_in_order_of_arrival(
    counter: Counter,
) -> None:
    consumers = [counter.ask(limit=limit) for limit in (3, 1, 5, 2)]
    await moment()

    await counter.produce(*"abcdef")
    await moment()

    assert [texts(each) for each in consumers] == [["a", "b", "c"], ["d"], ["e", "f"], None]


async def test_an_answer_that_grew_large_leaves_the_rest_for_the_next(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_operations, "CLAIM_PORTION", 2)
    monkeypatch.setattr(sqlite_operations, "CLAIM_CHARACTERS", 15)
    await counter.produce(*(letter * 10 for letter in "abcde"))

    consumers = [counter.ask(limit=10) for _ in range(4)]
    await moment()

    assert [texts(each) for each in consumers] == [
        ["a" * 10, "b" * 10],
        ["c" * 10, "d" * 10],
        ["e" * 10],
        None,
    ]


async def test_nobody_who_comes_later_is_served_first(counter: Counter) -> None:
    first = counter.ask()
    await moment()
    submitted = asyncio.ensure_future(counter.produce("a"))
    late = counter.ask(wait_ms=0)
    await submitted
    await moment()

    assert (texts(first), texts(late)) == (["a"], [])


async def test_a_consumer_waits_as_long_as_it_asked_to(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    start = loop.time()

    assert await counter.ask(wait_ms=1_500).future == []

    assert loop.time() - start == pytest.approx(1.5, abs=0.02)
    assert counter.engine.waiting == 0


async def test_who_does_not_wait_is_answered_without_time_passing(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    start = loop.time()

    assert await counter.take() == []
    await counter.produce("a")
    assert [m.content for m in await counter.take()] == ["a"]
    assert await counter.take() == []

    assert loop.time() == start


async def test_who_does_not_wait_finds_what_others_do_not_take(counter: Counter) -> None:
    waiting = counter.ask()
    await moment()
    await counter.produce("a", "b")

    assert [m.content for m in await counter.take()] == ["b"]
    assert texts(waiting) == ["a"]


async def test_who_does_not_wait_is_answered_though_others_wait_for_the_same_queue(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    counter.ask()
    await moment()
    start = loop.time()
    counter.store.groups.clear()

    assert await counter.take() == []

    assert loop.time() == start
    assert counter.store.groups == []


async def test_a_consumer_is_told_once_that_it_has_to_wait(counter: Counter) -> None:
    told: list[Waiter] = []
    consumer = counter.ask(on_wait=told.append)
    await moment()
    assert told == [consumer]

    await counter.produce("elsewhere", queue="other")
    await asyncio.sleep(1)

    assert told == [consumer]


async def test_who_comes_behind_a_large_wish_still_gets_its_turn(counter: Counter) -> None:
    told: list[Waiter] = []
    large = counter.ask(limit=MAX_BATCH, wait_ms=5_000)
    small = counter.ask(wait_ms=1_000, on_wait=told.append)
    hasty = counter.ask(wait_ms=0)
    await moment()

    assert texts(hasty) == []
    assert told == [small]
    await asyncio.sleep(1.1)
    assert texts(small) == []
    await counter.produce("a")
    await large.future
    assert texts(large) == ["a"]


async def test_who_comes_while_a_claim_is_under_way_still_gets_its_turn(
    counter: Counter,
) -> None:
    told: list[Waiter] = []
    counter.store.disk.clear()
    first = counter.ask(wait_ms=5_000)
    await moment()
    second = counter.ask(wait_ms=1_000, on_wait=told.append)
    hasty = counter.ask(wait_ms=0)
    await moment()
    counter.store.disk.set()
    await moment()

    assert texts(hasty) == []
    assert told == [second]
    await asyncio.sleep(1.1)
    assert texts(second) == []
    await counter.produce("a")
    await first.future
    assert texts(first) == ["a"]


async def test_a_crowd_that_comes_at_once_to_an_empty_queue_waits_and_leaves(
    counter: Counter,
) -> None:
    told: list[Waiter] = []
    crowd = [counter.ask(limit=n % 7 + 1, wait_ms=800, on_wait=told.append) for n in range(2_500)]
    await moment()
    assert told == crowd

    await counter.produce("a")
    await moment()
    assert texts(crowd[0]) == ["a"]
    await asyncio.sleep(1)

    assert [texts(each) for each in crowd[1:]] == [[]] * 2_499
    assert counter.engine.waiting == 0


async def test_a_crowd_that_comes_at_once_is_served_from_what_is_there(counter: Counter) -> None:
    for start in range(0, 3_000, 1_000):
        await counter.produce(*(str(n) for n in range(start, start + 1_000)))

    crowd = [counter.ask() for _ in range(3_000)]
    await moment()

    assert [texts(each) for each in crowd] == [[str(n)] for n in range(3_000)]


async def test_consumers_with_different_leases_stand_in_one_line(counter: Counter) -> None:
    consumers = [counter.ask(lease_ms=lease_ms) for lease_ms in (1_000, 9_000, 9_000, 1_000)]
    await moment()
    counter.store.groups.clear()

    await counter.produce(*"abcd")
    await moment()

    assert [texts(each) for each in consumers] == [["a"], ["b"], ["c"], ["d"]]
    claims = [each for each in counter.store.groups[0] if isinstance(each, Claim)]
    assert [(each.lease_ms, each.limit) for each in claims] == [(1_000, 1), (9_000, 2), (1_000, 1)]
    await asyncio.sleep(1.01)
    assert [m.content for m in await counter.take(limit=10)] == ["a", "d"]


async def test_consumers_of_one_queue_ask_the_database_as_one(counter: Counter) -> None:
    crowd = [counter.ask() for _ in range(100)]
    await moment()

    claims = [each for group in counter.store.groups for each in group if isinstance(each, Claim)]
    assert [(each.queue, each.limit) for each in claims] == [("q", 100)]
    assert [texts(each) for each in crowd] == [None] * 100


async def test_queues_do_not_disturb_each_other(counter: Counter) -> None:
    other = counter.ask("other")
    await moment()

    await counter.produce("a")
    await moment()

    assert texts(other) is None
    assert [m.content for m in await counter.take()] == ["a"]


async def test_a_claims_error_reaches_those_it_was_made_for(counter: Counter) -> None:
    bad = [counter.ask("\ud800"), counter.ask("\ud800", wait_ms=0)]
    good = counter.ask()
    await counter.produce("a")
    await moment()

    for each in bad:
        with pytest.raises(Exception, match="surrogates"):
            each.future.result()
    assert texts(good) == ["a"]
    assert counter.engine.waiting == 0


async def test_leases_are_as_long_as_the_consumer_asked_for(counter: Counter) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=LEASE_MS).future

    consumer = counter.ask(wait_ms=LEASE_MS - 1)
    assert await consumer.future == []
    consumer = counter.ask(wait_ms=100)
    assert [m.attempts for m in await consumer.future] == [2]


async def test_nobody_waits_at_an_engine_that_is_closed(counter: Counter) -> None:
    await counter.engine.close()

    with pytest.raises(ForqError, match="shutting_down"):
        counter.ask()
    with pytest.raises(ForqError, match="shutting_down"):
        await counter.produce("a")
