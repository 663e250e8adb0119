"""Delays and leases end in bounded steps, and nobody sleeps past the next one."""

from __future__ import annotations

import pytest

from queues.store.operations import Claim, Due, NewMessage, Prolonged, Rejected
from tests.queues.desk import LEASE_MS, RULES, Desk, contents, produce
from tests.queues.store.conformance.conftest import OpenDesk

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


def later(content: str, process_after: int) -> NewMessage:
    return NewMessage(content, process_after=process_after)


async def test_a_delayed_message_is_there_at_its_millisecond_and_not_before(desk: Desk) -> None:
    await desk.produce("q", later("a", T + 500), now=T)

    assert await desk.claim_due("q", now=T) == []
    assert await desk.claim_due("q", now=T + 499) == []
    assert contents(await desk.claim_due("q", now=T + 500)) == ["a"]


@pytest.mark.parametrize("process_after", [0, T, T - 9_999])
async def test_a_time_that_is_not_ahead_is_no_delay(desk: Desk, process_after: int) -> None:
    await desk.produce("q", later("a", process_after), now=T)

    assert contents(await desk.claim("q", now=T)) == ["a"]


async def test_delayed_messages_come_in_order_of_arrival_not_of_their_times(desk: Desk) -> None:
    await desk.produce("q", later("a", T + 500), later("b", T + 100), "c", now=T)

    assert contents(await desk.claim_due("q", 10, now=T + 500)) == ["a", "b", "c"]


async def test_a_delayed_message_cannot_be_settled(desk: Desk) -> None:
    (given,) = await desk.produce("q", later("a", T + 500), now=T)

    assert await desk.nack("q", Rejected(given), now=T) == [False]
    assert contents(await desk.claim_due("q", now=T + 500)) == ["a"]


async def test_a_step_is_bounded_and_takes_the_longest_overdue_first(desk: Desk) -> None:
    await desk.produce("q", *(later(str(n), T + 10 - n) for n in range(10)), now=T)
    now = T + 100

    woken = []
    for _ in range(4):
        woken.append((await desk.due(now=now, limit=3)).woken)
        claim = await desk.claim("q", 10, now=now)
        assert len(claim) == sum(woken[-1].values())
        woken[-1]["first"] = int(claim[0].content)

    assert woken == [
        {"q": 3, "first": 7},
        {"q": 3, "first": 4},
        {"q": 3, "first": 1},
        {"q": 1, "first": 0},
    ]


async def test_a_step_ends_leases_in_bounded_numbers_too(desk: Desk) -> None:
    await desk.produce("q", *(str(n) for n in range(5)), now=T)
    for _ in range(5):
        await desk.claim("q", now=T, lease_ms=1_000)

    counts = [(await desk.due(now=T + 1_000, limit=2)).woken.get("q", 0) for _ in range(4)]

    assert counts == [2, 2, 1, 0]


async def test_whoever_waits_is_told_what_became_available(desk: Desk) -> None:
    new = produce("fresh", "a", later("b", T + 50), "c")
    assert (await desk.commit(new, now=T)).woken == {"fresh": 2}
    a, c = await desk.claim("fresh", 2, now=T)

    at_once = Rejected(a.id, a.receipt, delay_ms=0)
    assert await desk.nack("fresh", at_once, now=T) == [True]
    assert (await desk.due(now=T + 49)).woken == {}
    assert (await desk.due(now=T + 50)).woken == {"fresh": 1}
    assert (await desk.due(now=T + LEASE_MS)).woken == {"fresh": 1}
    assert sorted(contents(await desk.claim("fresh", 10, now=T + LEASE_MS))) == ["a", "b", "c"]
    assert c.content == "c"


async def test_nobody_is_woken_for_a_message_that_failed(desk: Desk) -> None:
    now = T
    await desk.produce("q", "a", now=now)
    for _ in range(RULES.max_attempts):
        await desk.claim_due("q", now=now)
        now += LEASE_MS

    assert (await desk.due(now=now)).woken == {}
    assert desk.store.next_due_ms is None


async def test_nothing_is_due_in_an_empty_database(desk: Desk) -> None:
    assert (await desk.due(now=T)).woken == {}
    assert desk.store.next_due_ms is None


async def test_the_next_time_is_known_after_whatever_sets_one(desk: Desk) -> None:
    store = desk.store
    await desk.produce("q", later("far", T + 9_000_000), now=T)
    assert store.next_due_ms == T + 9_000_000
    await desk.produce("q", later("near", T + 8_000_000), "a", "b", "c", now=T)
    assert store.next_due_ms == T + 8_000_000
    a, b = await desk.claim("q", 2, now=T, lease_ms=700_000)
    assert store.next_due_ms == T + 700_000
    await desk.extend("q", Prolonged(a.id, a.receipt, 600_000), now=T)
    assert store.next_due_ms == T + 600_000
    await desk.nack("q", Rejected(b.id, b.receipt, delay_ms=500_000), now=T)
    assert store.next_due_ms == T + 500_000

    await desk.due(now=T + 500_000)
    assert store.next_due_ms == T + 600_000
    await desk.due(now=T + 700_000)
    assert store.next_due_ms == T + 8_000_000
    await desk.due(now=T + 9_000_000)
    assert store.next_due_ms is None


async def test_an_unfinished_step_leaves_a_time_that_is_over(desk: Desk) -> None:
    await desk.produce("q", later("a", T + 1), later("b", T + 2), now=T)

    await desk.due(now=T + 10, limit=1)

    assert desk.store.next_due_ms == T + 2


async def test_the_next_time_is_known_after_a_restart(open_desk: OpenDesk) -> None:
    first = open_desk()
    await first.produce("q", later("a", T + 500), "b", now=T)
    await first.claim("q", now=T, lease_ms=300)

    second = open_desk()
    await second.commit(now=T)

    assert second.store.next_due_ms == T + 300


async def test_another_stores_times_are_known_with_the_next_group(open_desk: OpenDesk) -> None:
    ours, theirs = open_desk(), open_desk()
    await ours.produce("q", later("a", T + 500), now=T)
    await theirs.produce("q", later("b", T + 100), now=T)

    await ours.claim("elsewhere", now=T)

    assert ours.store.next_due_ms == T + 100


async def test_another_stores_step_does_not_hide_what_is_left(open_desk: OpenDesk) -> None:
    ours, theirs = open_desk(), open_desk()
    await ours.produce("q", later("a", T + 100), later("b", T + 500), now=T)
    await theirs.due(now=T + 100)

    claim = Claim("q", 10, LEASE_MS)
    await ours.commit(Due(RULES), claim, now=T + 500)

    assert contents(claim.messages) == ["a", "b"]
