"""Nothing is claimed for a consumer that went away; what was, goes to the next or back."""

from __future__ import annotations

import asyncio

import pytest

from tests.queues.engine.conftest import Counter, texts
from tests.queues.moved_time import moment

pytestmark = pytest.mark.anyio


async def test_who_left_gets_nothing_and_the_next_in_line_does(counter: Counter) -> None:
    gone, there = counter.ask(), counter.ask()
    await moment()

    counter.engine.leave(gone)
    await counter.produce("a")
    await moment()

    assert (texts(gone), texts(there)) == ([], ["a"])
    assert [m.attempts for m in there.future.result()] == [1]


async def test_what_was_claimed_for_one_who_left_meanwhile_goes_to_the_next(
    counter: Counter,
) -> None:
    gone, there = counter.ask(), counter.ask()
    await moment()
    counter.store.disk.clear()
    submitted = [asyncio.ensure_future(counter.produce(text)) for text in "ab"]
    await moment()
    counter.engine.leave(gone)
    counter.store.disk.set()
    await asyncio.gather(*submitted)

    assert (texts(gone), texts(there)) == ([], ["a"])
    assert [(m.content, m.attempts) for m in await counter.take(limit=5)] == [("b", 1)]


async def test_what_was_claimed_for_the_only_one_is_given_back(counter: Counter) -> None:
    gone = counter.ask(limit=10)
    await moment()
    counter.store.disk.clear()
    submitted = asyncio.ensure_future(counter.produce("a", "b"))
    await moment()
    counter.engine.leave(gone)
    counter.store.disk.set()
    await submitted

    assert [(m.content, m.attempts) for m in await counter.take(limit=5)] == [("a", 1), ("b", 1)]


async def test_what_is_given_back_wakes_those_who_came_since(counter: Counter) -> None:
    gone = counter.ask(limit=10)
    await moment()
    counter.store.disk.clear()
    submitted = asyncio.ensure_future(counter.produce("a", "b"))
    await moment()
    counter.engine.leave(gone)
    since = [counter.ask(), counter.ask(), counter.ask()]
    await moment()
    counter.store.disk.set()
    await submitted
    await moment()

    assert [texts(each) for each in since] == [["a"], ["b"], None]


async def test_a_cancelled_request_counts_as_gone(counter: Counter) -> None:
    gone, there = counter.ask(), counter.ask()
    await moment()

    async def receive() -> None:
        await gone.future

    request = asyncio.ensure_future(receive())
    await moment()
    counter.store.disk.clear()
    submitted = asyncio.ensure_future(counter.produce("a"))
    await moment()
    request.cancel()
    await moment()
    counter.store.disk.set()
    await submitted
    await moment()

    assert texts(there) == ["a"]


async def test_leaving_twice_or_after_the_answer_is_harmless(counter: Counter) -> None:
    consumer = counter.ask()
    await counter.produce("a")
    await consumer.future

    counter.engine.leave(consumer)
    counter.engine.leave(consumer)

    assert texts(consumer) == ["a"]
    assert counter.engine.waiting == 0


async def test_who_leaves_takes_nobody_along(counter: Counter) -> None:
    gone = [counter.ask() for _ in range(50)]
    there = [counter.ask() for _ in range(2)]
    await moment()
    for each in gone:
        counter.engine.leave(each)
    assert counter.engine.waiting == 2

    await counter.produce("a", "b")
    await moment()

    assert [texts(each) for each in there] == [["a"], ["b"]]


async def test_a_release_of_nothing_is_no_work(counter: Counter) -> None:
    counter.engine.release("q", [])
    await moment()

    assert counter.store.groups == []
