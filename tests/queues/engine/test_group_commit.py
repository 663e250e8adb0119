"""What is submitted together shares a transaction; each operation gets its own outcome."""

from __future__ import annotations

import asyncio

import pytest

from queues.engine.engine import GROUP_BYTES, GROUP_MESSAGES
from queues.store.interface import StoreError
from queues.store.operations import Ack, Nack, Rejected, Settled
from tests.queues.desk import produce
from tests.queues.engine.conftest import RULES, Counter, texts
from tests.queues.moved_time import moment

pytestmark = pytest.mark.anyio


async def test_operations_submitted_together_share_a_transaction(counter: Counter) -> None:
    produced = await asyncio.gather(*(counter.produce(str(n)) for n in range(100)))

    assert [len(group) for group in counter.store.groups] == [100]
    assert len({each.ids[0] for each in produced}) == 100


async def test_what_comes_while_a_transaction_is_under_way_shares_the_next(
    counter: Counter,
) -> None:
    counter.store.disk.clear()
    first = asyncio.ensure_future(counter.produce("first"))
    await moment()
    others = [asyncio.ensure_future(counter.produce(str(n))) for n in range(50)]
    await moment()
    assert [len(group) for group in counter.store.groups] == [1]
    assert not first.done()

    counter.store.disk.set()
    await asyncio.gather(first, *others)

    assert [len(group) for group in counter.store.groups] == [1, 50]


async def test_nobody_is_answered_before_the_transaction_is_on_disk(counter: Counter) -> None:
    await counter.produce("a")
    (a,) = await counter.take()
    counter.store.disk.clear()
    submitted = [
        asyncio.ensure_future(counter.produce("b")),
        asyncio.ensure_future(counter.engine.submit(Ack("q", [Settled(a.id, a.receipt)]))),
    ]
    consumer = counter.ask()
    await asyncio.sleep(1)
    assert not any(each.done() for each in submitted)
    assert not consumer.future.done()

    counter.store.disk.set()
    await asyncio.gather(*submitted)

    assert texts(consumer) == ["b"]


async def test_a_produce_and_the_consumer_it_serves_share_a_transaction(counter: Counter) -> None:
    served, still_waiting = counter.ask(), counter.ask()
    await moment()
    counter.store.groups.clear()

    await counter.produce("a")
    await asyncio.sleep(1)

    assert (texts(served), texts(still_waiting)) == (["a"], None)
    assert len(counter.store.groups) == 1


async def test_one_bad_operation_fails_alone(counter: Counter) -> None:
    outcomes = await asyncio.gather(
        counter.produce("good"),
        counter.produce("\ud800"),
        counter.produce("good too"),
        return_exceptions=True,
    )

    assert [isinstance(each, StoreError) for each in outcomes] == [False, True, False]
    assert [m.content for m in await counter.take(limit=10)] == ["good", "good too"]


async def test_a_transaction_takes_on_a_bounded_number_of_operations(counter: Counter) -> None:
    count = 2 * GROUP_MESSAGES + 7

    await asyncio.gather(*(counter.produce("x") for _ in range(count)))

    sizes = [len(group) for group in counter.store.groups]
    assert sizes == [GROUP_MESSAGES, GROUP_MESSAGES, 7]


async def test_batches_count_by_their_messages(counter: Counter) -> None:
    half = ["x"] * (GROUP_MESSAGES // 2)

    await asyncio.gather(*(counter.produce(*half) for _ in range(6)))

    assert [len(group) for group in counter.store.groups] == [2, 2, 2]


async def test_a_transaction_takes_on_a_bounded_number_of_bytes(counter: Counter) -> None:
    size = GROUP_BYTES // 4
    submit = counter.engine.submit

    await asyncio.gather(*(submit(produce("q", str(n)), size) for n in range(10)))

    sizes = [len(group) for group in counter.store.groups]
    assert max(sizes) <= 5
    assert sum(sizes) == 10


async def test_one_operation_larger_than_a_transaction_should_be_is_carried_out(
    counter: Counter,
) -> None:
    submit = counter.engine.submit

    await asyncio.gather(
        submit(produce("q", "large"), 3 * GROUP_BYTES), submit(produce("q", "small"), 5)
    )

    assert [m.content for m in await counter.take(limit=5)] == ["large", "small"]


async def test_order_of_submission_is_order_of_delivery(counter: Counter) -> None:
    await asyncio.gather(*(counter.produce(str(n)) for n in range(1_500)))

    first = await counter.take(limit=1_000)
    rest = await counter.take(limit=1_000)

    assert [m.content for m in first + rest] == [str(n) for n in range(1_500)]


async def test_a_nack_and_an_ack_of_the_same_message_are_settled_once(counter: Counter) -> None:
    await counter.produce("a")
    (a,) = await counter.take()

    ack, nack = await asyncio.gather(
        counter.engine.submit(Ack("q", [Settled(a.id, a.receipt)])),
        counter.engine.submit(Nack("q", [Rejected(a.id, a.receipt)], RULES)),
    )

    assert (ack.done, nack.done) == ([True], [False])


async def test_a_client_that_stops_waiting_for_its_answer_disturbs_nobody(
    counter: Counter,
) -> None:
    impatient = asyncio.ensure_future(counter.produce("a"))
    patient = asyncio.ensure_future(counter.produce("b"))
    await asyncio.sleep(0)
    impatient.cancel()

    await patient

    assert [m.content for m in await counter.take(limit=5)] == ["a", "b"]
