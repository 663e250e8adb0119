"""Who may settle a message: the holder of the current receipt, while the lease lasts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from queues import ids
from queues.store.operations import Ack, Claimed, Prolonged, Rejected, Settled
from tests.queues.desk import LEASE_MS, Desk, contents

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000
Settle = Callable[[Desk, str, Settled, int], Awaitable[list[bool]]]


async def ack(desk: Desk, queue: str, held: Settled, now: int) -> list[bool]:
    return await desk.ack(queue, held, now=now)


async def nack(desk: Desk, queue: str, held: Settled, now: int) -> list[bool]:
    return await desk.nack(queue, Rejected(held.id, held.receipt, delay_ms=0), now=now)


async def extend(desk: Desk, queue: str, held: Settled, now: int) -> list[bool]:
    assert held.receipt is not None
    return await desk.extend(queue, Prolonged(held.id, held.receipt, LEASE_MS), now=now)


with_receipt = pytest.mark.parametrize("settle", [ack, nack, extend])
any_holder = pytest.mark.parametrize("settle", [ack, nack])


async def claimed(desk: Desk, now: int = T) -> Claimed:
    await desk.produce("q", "a", now=now)
    (message,) = await desk.claim("q", now=now)
    return message


def held(message: Claimed) -> Settled:
    return Settled(message.id, message.receipt)


async def test_what_is_acked_is_gone(desk: Desk) -> None:
    message = await claimed(desk)

    assert await desk.ack("q", message, now=T) == [True]
    assert await desk.ack("q", message, now=T) == [False]
    assert await desk.claim_due("q", 10, now=T + LEASE_MS) == []


async def test_an_ack_takes_only_what_it_names(desk: Desk) -> None:
    await desk.produce("q", "a", "b", "c", now=T)
    a, b, c = await desk.claim("q", 3, now=T)

    assert await desk.ack("q", a, c, now=T) == [True, True]

    assert [m.id for m in await desk.claim_due("q", 10, now=T + LEASE_MS)] == [b.id]


@any_holder
async def test_without_a_receipt_it_applies_to_a_message_being_processed(
    desk: Desk, settle: Settle
) -> None:
    message = await claimed(desk)

    assert await settle(desk, "q", Settled(message.id), T) == [True]
    assert await settle(desk, "q", Settled(message.id), T) == [False]


@any_holder
async def test_without_a_receipt_it_does_not_apply_to_one_that_waits(
    desk: Desk, settle: Settle
) -> None:
    (given,) = await desk.produce("q", "a", now=T)

    assert await settle(desk, "q", Settled(given), T) == [False]
    assert [m.attempts for m in await desk.claim("q", now=T)] == [1]


@with_receipt
async def test_the_lease_lasts_to_its_last_millisecond(desk: Desk, settle: Settle) -> None:
    message = await claimed(desk)

    assert await settle(desk, "q", held(message), T + LEASE_MS - 1) == [True]


@with_receipt
async def test_a_lease_that_is_over_is_over_before_anybody_noticed(
    desk: Desk, settle: Settle
) -> None:
    message = await claimed(desk)

    assert await settle(desk, "q", held(message), T + LEASE_MS) == [False]
    assert [m.id for m in await desk.claim_due("q", now=T + LEASE_MS)] == [message.id]


@any_holder
async def test_without_a_receipt_nothing_outlives_the_lease_either(
    desk: Desk, settle: Settle
) -> None:
    message = await claimed(desk)

    assert await settle(desk, "q", Settled(message.id), T + LEASE_MS) == [False]
    assert [m.id for m in await desk.claim_due("q", now=T + LEASE_MS)] == [message.id]


@with_receipt
async def test_an_earlier_deliverys_receipt_changes_nothing(desk: Desk, settle: Settle) -> None:
    first = await claimed(desk)
    again = T + LEASE_MS
    (second,) = await desk.claim_due("q", now=again)
    assert second.id == first.id
    assert second.receipt != first.receipt

    assert await settle(desk, "q", held(first), again + 1) == [False]
    assert await desk.claim("q", now=again + 1) == []
    assert await desk.claim_due("q", now=again + LEASE_MS - 1) == []
    assert await desk.ack("q", second, now=again + LEASE_MS - 1) == [True]


@with_receipt
@pytest.mark.parametrize("difference", [1, 2, 1 << 40], ids=hex)
async def test_a_receipt_that_is_not_quite_right_changes_nothing(
    desk: Desk, settle: Settle, difference: int
) -> None:
    message = await claimed(desk)

    assert await settle(desk, "q", Settled(message.id, message.receipt ^ difference), T) == [False]
    assert await desk.ack("q", message, now=T) == [True]


@with_receipt
async def test_an_id_with_another_tail_is_another_message(desk: Desk, settle: Settle) -> None:
    message = await claimed(desk)
    stranger = ids.join(ids.key_of(message.id), ids.tail_of(message.id) ^ 1)

    assert await settle(desk, "q", Settled(stranger, message.receipt), T) == [False]
    assert await desk.ack("q", message, now=T) == [True]


@with_receipt
@pytest.mark.parametrize("queue", ["other", "nobody-sent-here"])
async def test_a_message_is_only_found_in_its_own_queue(
    desk: Desk, settle: Settle, queue: str
) -> None:
    message = await claimed(desk)
    await desk.produce("other", "x", now=T)

    assert await settle(desk, queue, held(message), T) == [False]
    assert await desk.ack("q", message, now=T) == [True]


@with_receipt
async def test_an_id_that_nobody_has_is_missed(desk: Desk, settle: Settle) -> None:
    message = await claimed(desk)

    last = ids.join((1 << 63) - 1, (1 << ids.TAIL_BITS) - 1)

    assert ids.parse(ids.to_text(last)) == last
    for stranger in (ids.NOBODY, last):
        assert await settle(desk, "q", Settled(stranger, message.receipt), T) == [False]


async def test_each_message_of_a_batch_has_an_outcome_of_its_own(desk: Desk) -> None:
    await desk.produce("q", "a", "b", "c", now=T)
    a, b, c = await desk.claim("q", 3, now=T)
    stale = Settled(b.id, b.receipt ^ 2)

    assert await desk.ack("q", a, stale, Settled(ids.NOBODY), c, a, now=T) == [
        True,
        False,
        False,
        True,
        False,
    ]
    assert contents(await desk.claim_due("q", 10, now=T + LEASE_MS)) == ["b"]


async def test_two_acks_in_one_group_are_settled_once(desk: Desk) -> None:
    message = await claimed(desk)
    acks = [Ack("q", [held(message)]), Ack("q", [Settled(message.id)])]

    await desk.commit(*acks, now=T)

    assert [each.done for each in acks] == [[True], [False]]
