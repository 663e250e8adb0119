"""A lease ends at its millisecond, moves with extend, and a release undoes it."""

from __future__ import annotations

import pytest

from queues.store.operations import Prolonged, Rejected
from tests.queues.desk import LEASE_MS, RULES, Desk, contents

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


async def test_a_message_comes_back_when_its_lease_ends_and_not_before(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    await desk.claim("q", now=T, lease_ms=1_000)

    assert await desk.claim_due("q", now=T + 999) == []
    (message,) = await desk.claim_due("q", now=T + 1_000)
    assert (message.content, message.attempts) == ("a", 2)


async def test_every_claim_names_its_own_lease(desk: Desk) -> None:
    await desk.produce("q", "short", "long", now=T)
    await desk.claim("q", now=T, lease_ms=1_000)
    await desk.claim("q", now=T, lease_ms=2_000)

    assert contents(await desk.claim_due("q", 10, now=T + 1_000)) == ["short"]
    assert contents(await desk.claim_due("q", 10, now=T + 2_000)) == ["long"]


@pytest.mark.parametrize("visibility_ms", [1_000, 7 * LEASE_MS])
async def test_an_extended_lease_ends_that_long_from_then(desk: Desk, visibility_ms: int) -> None:
    await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)
    then = T + 5_000

    prolonged = Prolonged(message.id, message.receipt, visibility_ms)
    assert await desk.extend("q", prolonged, now=then) == [True]

    assert await desk.claim_due("q", now=then + visibility_ms - 1) == []
    assert await desk.claim_due("q", now=then + visibility_ms) != []


async def test_an_extension_does_not_make_a_delivery(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)
    await desk.extend("q", Prolonged(message.id, message.receipt, LEASE_MS), now=T)

    assert await desk.ack("q", message, now=T) == [True]


async def test_what_comes_back_keeps_its_place(desk: Desk) -> None:
    await desk.produce("q", "a", "b", "c", now=T)
    await desk.claim("q", now=T, lease_ms=1_000)
    (b,) = await desk.claim("q", now=T)
    await desk.produce("q", "d", now=T + 1)
    await desk.nack("q", Rejected(b.id, b.receipt, delay_ms=0), now=T + 2)

    assert contents(await desk.claim_due("q", 10, now=T + 1_000)) == ["a", "b", "c", "d"]


async def test_a_lease_that_ends_uses_up_its_attempt(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    deliveries = [
        await desk.claim_due("q", now=T + LEASE_MS * n) for n in range(RULES.max_attempts)
    ]
    assert [message.attempts for (message,) in deliveries] == [1, 2, 3, 4, 5]

    end = T + LEASE_MS * RULES.max_attempts
    for later in (end, end + 1, end + 366 * 86_400_000):
        assert await desk.claim_due("q", now=later) == []
    assert await desk.ack("q", *deliveries[-1], now=end) == [False]


async def test_a_released_message_is_there_at_once_and_the_attempt_does_not_count(
    desk: Desk,
) -> None:
    await desk.produce("q", "a", "b", now=T)
    for _ in range(3 * RULES.max_attempts):
        (message,) = await desk.claim("q", now=T)
        assert (message.content, message.attempts) == ("a", 1)
        assert (await desk.release("q", message, now=T)).woken == {"q": 1}

    assert contents(await desk.claim("q", 2, now=T)) == ["a", "b"]


async def test_a_release_of_the_last_attempt_leaves_it_to_be_made(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    times = [T + LEASE_MS * n for n in range(RULES.max_attempts)]
    deliveries = [await desk.claim_due("q", now=now) for now in times]

    await desk.release("q", *deliveries[-1], now=times[-1])

    assert [m.attempts for m in await desk.claim("q", now=times[-1])] == [RULES.max_attempts]


async def test_a_release_is_fenced(desk: Desk) -> None:
    await desk.produce("q", "a", "b", now=T)
    a, b = await desk.claim("q", 2, now=T, lease_ms=1_000)
    await desk.ack("q", b, now=T)
    stale = a._replace(receipt=a.receipt ^ 2)

    assert (await desk.release("q", stale, b, now=T)).woken == {}
    assert (await desk.release("other", a, now=T)).woken == {}
    assert (await desk.release("q", a, now=T + 1_000)).woken == {}
    assert await desk.claim("q", 10, now=T) == []
    assert [m.attempts for m in await desk.claim_due("q", 10, now=T + 1_000)] == [2]
