"""A nacked message comes back later by its attempt, and after the last one no more."""

from __future__ import annotations

import pytest

from queues.rules import QueueRules
from queues.store.operations import NewMessage, Rejected
from tests.queues.desk import LEASE_MS, Desk, contents

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


async def test_the_delay_grows_by_attempt_and_the_last_attempt_is_the_last(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    now = T
    for attempt, delay_ms in enumerate([1_000, 5_000, 15_000, 30_000], 1):
        (message,) = await desk.claim_due("q", now=now)
        assert message.attempts == attempt
        assert await desk.nack("q", Rejected(message.id, message.receipt), now=now + 7) == [True]
        assert await desk.claim_due("q", now=now + 7 + delay_ms - 1) == []
        now += 7 + delay_ms

    (message,) = await desk.claim_due("q", now=now)
    assert message.attempts == 5
    assert await desk.nack("q", Rejected(message.id, message.receipt), now=now) == [True]

    for later in (now, now + 60_000, now + LEASE_MS, now + 366 * 86_400_000):
        assert await desk.claim_due("q", now=later) == []


async def test_the_last_attempt_is_the_last_whatever_delay_the_nack_asks_for(desk: Desk) -> None:
    rules = QueueRules(max_attempts=1)
    await desk.produce("q", "a", now=T, rules=rules)
    (message,) = await desk.claim("q", now=T)

    rejected = Rejected(message.id, message.receipt, delay_ms=0)
    assert await desk.nack("q", rejected, now=T, rules=rules) == [True]

    assert await desk.claim_due("q", now=T, rules=rules) == []
    assert await desk.nack("q", Rejected(message.id), now=T, rules=rules) == [False]
    assert await desk.ack("q", message, now=T) == [False]


async def test_attempts_beyond_the_list_of_delays_wait_as_long_as_its_last(desk: Desk) -> None:
    rules = QueueRules(max_attempts=10, backoff_ms=(100, 700))
    await desk.produce("q", "a", now=T, rules=rules)
    now = T
    for delay_ms in (100, 700, 700, 700):
        (message,) = await desk.claim_due("q", now=now, rules=rules)
        await desk.nack("q", Rejected(message.id, message.receipt), now=now, rules=rules)
        assert await desk.claim_due("q", now=now + delay_ms - 1, rules=rules) == []
        now += delay_ms


async def test_a_nack_may_name_its_own_delay(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)

    await desk.nack("q", Rejected(message.id, message.receipt, delay_ms=77_000), now=T)

    assert await desk.claim_due("q", now=T + 76_999) == []
    assert [m.attempts for m in await desk.claim_due("q", now=T + 77_000)] == [2]


async def test_a_nack_without_delay_makes_it_available_at_once(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)

    rejected = Rejected(message.id, message.receipt, delay_ms=0, reason="not today")
    assert await desk.nack("q", rejected, now=T) == [True]

    assert [m.attempts for m in await desk.claim("q", now=T)] == [2]


async def test_a_nacked_message_is_nobodys(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)
    await desk.nack("q", Rejected(message.id, message.receipt), now=T)

    assert await desk.ack("q", message, now=T) == [False]
    assert await desk.nack("q", Rejected(message.id), now=T) == [False]
    assert contents(await desk.claim_due("q", 10, now=T + 1_000)) == ["a"]


async def test_it_comes_back_among_its_equals_by_priority_and_arrival(desk: Desk) -> None:
    await desk.produce("q", NewMessage("first", priority=5), now=T)
    (first,) = await desk.claim("q", now=T)
    await desk.produce("q", NewMessage("second", priority=5), NewMessage("top", priority=6), now=T)
    await desk.nack("q", Rejected(first.id, first.receipt), now=T)

    assert contents(await desk.claim_due("q", 10, now=T + 1_000)) == ["top", "first", "second"]
