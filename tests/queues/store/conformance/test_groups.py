"""A group is one transaction, in order; what fails in it fails alone."""

from __future__ import annotations

from typing import Any

import pytest

from queues.store.interface import StoreError, StoreUnavailable
from queues.store.operations import (
    Ack,
    Claim,
    Due,
    Extend,
    Nack,
    NewMessage,
    Operation,
    Produce,
    Prolonged,
    Rejected,
    Release,
    Settled,
)
from tests.queues.desk import LEASE_MS, RULES, Desk, contents, produce

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000

# What no client can send, since the API and the services refuse it before.
ANYTHING: Any = object()
IMPOSSIBLE = {
    "bytes for content": NewMessage(ANYTHING and b"bytes"),  # type: ignore[arg-type]
    "no content": NewMessage(None),  # type: ignore[arg-type]
    "an object for content": NewMessage(ANYTHING),
    "lone surrogate": NewMessage("\ud800"),
    "lone surrogate in key": NewMessage("a", dedup_key="\udfff"),
    "number too large": NewMessage("a", priority=1 << 70),
    "word for a number": NewMessage("a", priority="high"),  # type: ignore[arg-type]
}
impossible = pytest.mark.parametrize("message", IMPOSSIBLE.values(), ids=IMPOSSIBLE.keys())


async def test_an_empty_group_is_no_work(desk: Desk) -> None:
    committed = await desk.commit(now=T)

    assert committed.woken == {}


async def test_an_operation_without_messages_does_nothing(desk: Desk) -> None:
    nothing = produce("q")
    operations: list[Operation] = [
        nothing,
        Ack("q", []),
        Nack("q", [], RULES),
        Extend("q", []),
        Release("q", []),
    ]

    committed = await desk.commit(*operations, now=T)

    assert [each.error for each in operations] == [None] * 5
    assert (nothing.ids, committed.woken) == ([], {})
    assert await desk.claim("q", now=T) == []


async def test_every_kind_of_operation_works_on_a_queue_nobody_sent_to(desk: Desk) -> None:
    claim, ack = Claim("none", 5, LEASE_MS), Ack("none", [Settled(1, 1), Settled(1)])
    nack = Nack("none", [Rejected(1, 1), Rejected(1)], RULES)
    extend, release = Extend("none", [Prolonged(1, 1, 1_000)]), Release("none", [Settled(1, 1)])
    operations: list[Operation] = [claim, ack, nack, extend, release, Due(RULES)]

    await desk.commit(*operations, now=T)

    assert [each.error for each in operations] == [None] * 6
    assert (claim.messages, ack.done, nack.done, extend.done) == (
        [],
        [False, False],
        [False, False],
        [False],
    )


async def test_many_operations_of_all_kinds_are_carried_out_in_order(desk: Desk) -> None:
    await desk.produce("old", *(str(n) for n in range(300)), now=T)
    old = await desk.claim("old", 300, now=T)
    operations: list[Operation] = []
    for number, message in enumerate(old):
        operations.append(produce("new", str(number)))
        if number % 3 == 0:
            operations.append(Ack("old", [Settled(message.id, message.receipt)]))
        elif number % 3 == 1:
            rejected = Rejected(message.id, message.receipt, delay_ms=0)
            operations.append(Nack("old", [rejected], RULES))
        else:
            operations.append(Extend("old", [Prolonged(message.id, message.receipt, 1_000)]))
        operations.append(Claim("new", 1, LEASE_MS))

    committed = await desk.commit(*operations, now=T)

    assert [each.error for each in operations] == [None] * 900
    claims = [each for each in operations if isinstance(each, Claim)]
    assert [contents(claim.messages) for claim in claims] == [[str(n)] for n in range(300)]
    assert committed.woken == {"new": 300, "old": 100}
    nacked = [str(n) for n in range(300) if n % 3 == 1]
    extended = [str(n) for n in range(300) if n % 3 == 2]
    assert contents(await desk.claim("old", 300, now=T)) == nacked
    assert contents(await desk.claim_due("old", 300, now=T + 1_000)) == extended
    assert contents(await desk.claim_due("old", 300, now=T + LEASE_MS)) == nacked


@impossible
async def test_an_impossible_message_is_refused_alone(desk: Desk, message: NewMessage) -> None:
    with pytest.raises(StoreError) as raised:
        await desk.produce("q", message, now=T)

    assert not isinstance(raised.value, StoreUnavailable)
    await desk.produce("q", "fine", now=T)
    assert contents(await desk.claim("q", 10, now=T)) == ["fine"]


@impossible
@pytest.mark.parametrize("place", [0, 1, 2, 3, 4, 5, 6])
async def test_neighbours_of_a_failing_operation_do_not_fail(
    desk: Desk, message: NewMessage, place: int
) -> None:
    await desk.produce("q", "to ack", "to nack", "to extend", now=T)
    a, b, c = await desk.claim("q", 3, now=T, lease_ms=1_000)
    ack, claim = Ack("q", [Settled(a.id, a.receipt)]), Claim("q", 10, 1_000)
    before, after = produce("q", "before"), produce("q", "after")
    neighbours: list[Operation] = [
        before,
        ack,
        Nack("q", [Rejected(b.id, b.receipt, delay_ms=0)], RULES),
        Extend("q", [Prolonged(c.id, c.receipt, 5_000)]),
        claim,
        after,
    ]
    bad = Produce("q", [NewMessage("good"), message, NewMessage("good too")], RULES)
    group = [*neighbours[:place], bad, *neighbours[place:]]

    await desk.commit(*group, now=T)

    assert isinstance(bad.error, StoreError)
    assert [each.error for each in neighbours] == [None] * 6
    assert ack.done == [True]
    assert contents(claim.messages) == ["to nack", "before"]
    assert contents(await desk.claim_due("q", 10, now=T + 4_999)) == ["to nack", "before", "after"]
    assert contents(await desk.claim_due("q", 10, now=T + 5_000)) == ["to extend"]


async def test_several_failing_operations_fail_each_for_itself(desk: Desk) -> None:
    operations = [
        produce("q", "\ud800" if number % 2 else str(number), rules=RULES) for number in range(9)
    ]

    await desk.commit(*operations, now=T)

    assert [each.error is None for each in operations] == [number % 2 == 0 for number in range(9)]
    assert contents(await desk.claim("q", 10, now=T)) == ["0", "2", "4", "6", "8"]


async def test_a_queue_that_was_not_made_after_all_can_be_made_later(desk: Desk) -> None:
    first, second = produce("new", "\ud800"), produce("new", "fine")
    await desk.commit(first, second, now=T)

    assert first.error is not None
    assert second.error is None
    assert contents(await desk.claim("new", 10, now=T)) == ["fine"]
    with pytest.raises(StoreError):
        await desk.produce("newer", "\ud800", now=T)
    await desk.produce("newest", "other", now=T)
    await desk.produce("newer", "fine", now=T)
    assert contents(await desk.claim("newer", 10, now=T)) == ["fine"]
    assert contents(await desk.claim("newest", 10, now=T)) == ["other"]


async def test_other_kinds_of_operation_fail_alone_too(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    bad: list[Operation] = [
        Claim("q", 1, 1 << 70),
        Ack("q", [Settled(ANYTHING)]),
        Nack("q", [Rejected(1 << 200, 1)], RULES),
        Extend("q", [Prolonged(1, 1, 1 << 70)]),
        Release("q", [Settled(ANYTHING, 1)]),
        Claim("\ud800", 1, LEASE_MS),
    ]
    claim = Claim("q", 1, LEASE_MS)

    await desk.commit(*bad, claim, now=T)

    assert [isinstance(each.error, StoreError) for each in bad] == [True] * 6
    assert claim.error is None
    assert contents(claim.messages) == ["a"]


async def test_a_batch_in_which_one_fails_settles_none_of_it(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (a,) = await desk.claim("q", now=T)

    with pytest.raises(StoreError):
        await desk.ack("q", a, Settled(1 << 200, 1), now=T)

    assert await desk.ack("q", a, now=T) == [True]
