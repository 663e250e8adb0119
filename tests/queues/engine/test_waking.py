"""A waiting consumer wakes when a message becomes available, whatever made it so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from queues.engine.engine import LOOK_INTERVAL_S
from queues.store.operations import Extend, Nack, NewMessage, Produce, Prolonged, Rejected
from tests.queues.desk import Desk
from tests.queues.engine.conftest import LEASE_MS, RULES, Counter, texts
from tests.queues.moved_time import MovedTimeLoop, moment

pytestmark = pytest.mark.anyio


async def test_by_a_produce(counter: Counter, loop: MovedTimeLoop) -> None:
    consumer = counter.ask()
    await asyncio.sleep(5)
    start = loop.time()

    await counter.produce("a")
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() == start


async def test_by_a_delay_that_is_over(counter: Counter, loop: MovedTimeLoop) -> None:
    later = NewMessage("a", process_after=loop.now_ms() + 7_000)
    await counter.engine.submit(Produce("q", [later], RULES))
    start = loop.time()
    consumer = counter.ask()

    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start == pytest.approx(7, abs=0.002)


async def test_by_each_delay_in_its_turn(counter: Counter, loop: MovedTimeLoop) -> None:
    now = loop.now_ms()
    for delay_ms in (4_000, 2_000, 6_000):
        later = NewMessage(str(delay_ms), process_after=now + delay_ms)
        await counter.engine.submit(Produce("q", [later], RULES))
    consumers = [counter.ask() for _ in range(3)]

    for consumer, delay_ms in zip(consumers, (2_000, 4_000, 6_000), strict=True):
        await consumer.future
        assert texts(consumer) == [str(delay_ms)]
        assert loop.now_ms() - now == pytest.approx(delay_ms, abs=2)


async def test_by_more_delays_than_one_step_takes(counter: Counter, loop: MovedTimeLoop) -> None:
    due = loop.now_ms() + 1_000
    for _ in range(3):
        later = [NewMessage("x", process_after=due)] * 1_000
        await counter.engine.submit(Produce("q", later, RULES))
    crowd = [counter.ask(limit=100) for _ in range(30)]

    await asyncio.gather(*(each.future for each in crowd))

    assert sum(len(texts(each) or []) for each in crowd) == 3_000
    assert loop.now_ms() - due <= 2


async def test_by_a_nack(counter: Counter, loop: MovedTimeLoop) -> None:
    await counter.produce("a")
    (a,) = await counter.take()
    consumer = counter.ask()
    await moment()
    start = loop.time()

    await counter.engine.submit(Nack("q", [Rejected(a.id, a.receipt, delay_ms=0)], RULES))
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() == start


async def test_by_the_end_of_a_nacks_delay(counter: Counter, loop: MovedTimeLoop) -> None:
    await counter.produce("a")
    (a,) = await counter.take()
    consumer = counter.ask()
    start = loop.time()

    await counter.engine.submit(Nack("q", [Rejected(a.id, a.receipt)], RULES))
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start == pytest.approx(1, abs=0.002)


async def test_by_the_end_of_a_lease(counter: Counter, loop: MovedTimeLoop) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=9_000).future
    start = loop.time()
    consumer = counter.ask()

    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start == pytest.approx(9, abs=0.002)


async def test_by_the_end_of_a_lease_that_was_shortened(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    await counter.produce("a")
    (a,) = await counter.ask(lease_ms=900_000).future
    start = loop.time()
    consumer = counter.ask()

    await counter.engine.submit(Extend("q", [Prolonged(a.id, a.receipt, 2_000)]))
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start == pytest.approx(2, abs=0.002)


async def test_not_before_the_end_of_a_lease_that_was_prolonged(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    await counter.produce("a")
    (a,) = await counter.ask(lease_ms=2_000).future
    start = loop.time()
    consumer = counter.ask()

    await counter.engine.submit(Extend("q", [Prolonged(a.id, a.receipt, 20_000)]))
    await consumer.future

    assert loop.time() - start == pytest.approx(20, abs=0.002)


async def test_by_a_release(counter: Counter, loop: MovedTimeLoop) -> None:
    await counter.produce("a", "b")
    held = await counter.take(limit=2)
    consumer = counter.ask(limit=5)
    await moment()
    start = loop.time()

    counter.engine.release("q", held)
    await consumer.future

    assert [m.attempts for m in consumer.future.result()] == [1, 1]
    assert loop.time() == start


async def test_by_another_process(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    consumers = [counter.ask(), counter.ask("r")]
    await asyncio.sleep(3)
    start = loop.time()

    await other_process.produce("q", "a", now=loop.now_ms())
    await consumers[0].future
    assert texts(consumers[0]) == ["a"]
    assert loop.time() - start <= 2 * LOOK_INTERVAL_S

    await other_process.produce("r", "b", now=loop.now_ms())
    await consumers[1].future
    assert loop.time() - start <= 4 * LOOK_INTERVAL_S


async def test_by_another_process_though_a_commit_of_our_own_saw_it_first(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    consumer = counter.ask()
    await asyncio.sleep(3)
    start = loop.time()

    await other_process.produce("q", "a", now=loop.now_ms())
    await counter.produce("b", queue="elsewhere")
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start <= 2 * LOOK_INTERVAL_S


async def test_by_another_process_though_a_failing_group_saw_it_first(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    consumer = counter.ask()
    await asyncio.sleep(3)
    start = loop.time()

    await other_process.produce("q", "a", now=loop.now_ms())
    await asyncio.gather(
        counter.produce("fine", queue="elsewhere"),
        counter.produce("\ud800", queue="elsewhere"),
        return_exceptions=True,
    )
    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start <= 3 * LOOK_INTERVAL_S


async def test_by_another_process_while_a_claim_of_our_own_is_under_way(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    counter.store.disk.clear()
    consumer = counter.ask()
    await asyncio.sleep(1)
    await other_process.produce("q", "a", now=loop.now_ms())
    await asyncio.sleep(1)
    counter.store.disk.set()
    start = loop.time()

    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start <= 3 * LOOK_INTERVAL_S


async def test_by_the_end_of_another_processs_lease(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    consumer = counter.ask()
    await asyncio.sleep(1)
    await other_process.produce("q", "a", now=loop.now_ms())
    assert await other_process.claim("q", now=loop.now_ms(), lease_ms=5_000) != []
    start = loop.time()

    await consumer.future

    assert texts(consumer) == ["a"]
    assert loop.time() - start == pytest.approx(5, abs=0.01)


async def test_who_does_not_wait_finds_what_another_process_left(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    waiting = counter.ask()
    await asyncio.sleep(1)

    await other_process.produce("q", "a", "b", now=loop.now_ms())
    assert [m.content for m in await counter.take()] == ["b"]
    assert texts(waiting) == ["a"]


async def test_who_does_not_wait_finds_it_though_a_commit_of_our_own_saw_it_first(
    counter: Counter, other_process: Desk, loop: MovedTimeLoop
) -> None:
    waiting = counter.ask()
    await asyncio.sleep(1)

    await other_process.produce("q", "a", "b", now=loop.now_ms())
    await counter.produce("x", queue="elsewhere")
    assert [m.content for m in await counter.take()] == ["b"]
    assert texts(waiting) == ["a"]


async def test_an_idle_engine_leaves_the_database_alone(counter: Counter) -> None:
    counter.ask()
    await moment()
    counter.store.groups.clear()

    await asyncio.sleep(20)

    assert counter.store.groups == []


async def test_without_anybody_waiting_time_still_passes(
    counter: Counter, loop: MovedTimeLoop
) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=LEASE_MS).future

    await asyncio.sleep(LEASE_MS / 1_000)

    assert [m.attempts for m in await counter.take()] == [2]


@pytest.fixture
async def jump(
    counter: Counter, loop: MovedTimeLoop, monkeypatch: pytest.MonkeyPatch
) -> Callable[[int], None]:
    """Sets the wall clock ahead, as a step of NTP or a machine that slept; timers know nothing."""

    def set_ahead(milliseconds: int) -> None:
        monkeypatch.setattr(counter.engine, "_clock", lambda: loop.now_ms() + milliseconds)

    return set_ahead


async def test_a_clock_that_jumps_ahead_is_noticed_with_the_next_request(
    counter: Counter, jump: Callable[[int], None]
) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=3_600_000).future

    jump(3_600_000)

    assert [m.attempts for m in await counter.take()] == [2]


async def test_a_clock_that_jumps_ahead_wakes_those_who_wait(
    counter: Counter, jump: Callable[[int], None]
) -> None:
    await counter.produce("a")
    await counter.ask(lease_ms=3_600_000).future
    consumer = counter.ask()
    await moment()

    jump(3_600_000)
    await consumer.future

    assert texts(consumer) == ["a"]
