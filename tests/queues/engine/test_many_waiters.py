"""Ten thousand consumers that wait cost those who are served nothing."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Self

import pytest

from queues.engine.waiting import Waiter
from tests.queues.engine.conftest import Counter, texts
from tests.queues.moved_time import moment

pytestmark = pytest.mark.anyio


class Lines:
    """Counts the lines of the engine that are run."""

    def __init__(self) -> None:
        self.count = 0

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        if "queues/engine" not in frame.f_code.co_filename:
            return None
        self.count += event == "line"
        return self._trace

    def __enter__(self) -> Self:
        sys.settrace(self._trace)
        return self

    def __exit__(self, *exc_info: object) -> None:
        sys.settrace(None)


async def gather(counter: Counter, count: int, queue: str = "q") -> list[Waiter]:
    consumers = [counter.ask(queue) for _ in range(count)]
    await moment()
    return consumers


async def cost_of_serving_one(counter: Counter) -> int:
    with Lines() as lines:
        await counter.produce("a")
        await moment()
    return lines.count


async def test_a_produce_costs_the_same_before_ten_and_ten_thousand(counter: Counter) -> None:
    few = await gather(counter, 10)
    before_ten = await cost_of_serving_one(counter)
    many = await gather(counter, 10_000)
    before_ten_thousand = await cost_of_serving_one(counter)

    assert [texts(each) for each in (few + many)[:3]] == [["a"], ["a"], None]
    assert 0 < before_ten_thousand <= before_ten + 5


async def test_a_produce_elsewhere_costs_the_same(counter: Counter) -> None:
    alone = await cost_of_serving_one(counter)
    await gather(counter, 10_000, "crowded")

    assert 0 < await cost_of_serving_one(counter) <= alone + 5


async def test_one_consumer_that_comes_or_goes_costs_the_same(counter: Counter) -> None:
    async def cost_of_coming_and_going() -> int:
        with Lines() as lines:
            consumer = counter.ask()
            await moment()
            counter.engine.leave(consumer)
            await moment()
        return lines.count

    await gather(counter, 10)
    before_ten = await cost_of_coming_and_going()
    await gather(counter, 10_000)

    assert 0 < await cost_of_coming_and_going() <= before_ten + 5


async def test_ten_thousand_are_all_served_in_their_order(counter: Counter) -> None:
    many = await gather(counter, 10_000)

    for start in range(0, 10_000, 1_000):
        await counter.produce(*(str(n) for n in range(start, start + 1_000)))
    await moment()

    assert [texts(each) for each in many] == [[str(n)] for n in range(10_000)]
