"""Several processes on one database: each sees what the others did."""

from __future__ import annotations

import pytest

from queues.store.operations import Claim, Rejected
from tests.queues.desk import LEASE_MS, Desk, contents, produce
from tests.queues.store.conformance.conftest import OpenDesk, OpenStore

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


@pytest.fixture
async def ours(open_desk: OpenDesk) -> Desk:
    desk = open_desk()
    await desk.commit(now=T)
    return desk


@pytest.fixture
async def theirs(open_desk: OpenDesk, ours: Desk) -> Desk:
    return open_desk()


async def test_own_commits_are_no_change(ours: Desk) -> None:
    await ours.produce("q", "a", now=T)
    assert not ours.store.changed()
    await ours.claim("q", now=T)
    assert not ours.store.changed()


async def test_anothers_commit_is_a_change_until_the_next_own_one(ours: Desk, theirs: Desk) -> None:
    assert not ours.store.changed()
    await theirs.produce("q", "a", now=T)
    assert ours.store.changed()
    assert ours.store.changed()

    committed = await ours.commit(Claim("elsewhere", 1, LEASE_MS), now=T)

    assert committed.foreign
    assert not ours.store.changed()
    assert not (await ours.commit(Claim("elsewhere", 1, LEASE_MS), now=T)).foreign


@pytest.mark.parametrize("what", ["claim", "ack", "nack", "release"])
async def test_every_kind_of_change_is_seen(ours: Desk, theirs: Desk, what: str) -> None:
    await theirs.produce("q", "a", now=T)
    (message,) = await theirs.claim("q", now=T)
    await ours.commit(now=T)
    assert not ours.store.changed()

    if what == "claim":
        await theirs.produce("q", "b", now=T)
        await ours.commit(now=T)
        await theirs.claim("q", now=T)
    elif what == "ack":
        await theirs.ack("q", message, now=T)
    elif what == "nack":
        await theirs.nack("q", Rejected(message.id, message.receipt), now=T)
    else:
        await theirs.release("q", message, now=T)

    assert ours.store.changed()


async def test_anothers_commit_is_not_forgotten_over_an_operation_that_fails(
    ours: Desk, theirs: Desk
) -> None:
    await theirs.produce("q", "a", now=T)
    bad, good = produce("elsewhere", "\ud800"), produce("elsewhere", "fine")

    committed = await ours.commit(bad, good, now=T)

    assert bad.error is not None
    assert good.error is None
    assert committed.foreign or ours.store.changed()


async def test_a_message_is_claimed_by_one_store_alone(ours: Desk, theirs: Desk) -> None:
    await ours.produce("q", *(str(n) for n in range(100)), now=T)

    taken: list[str] = []
    for turn in range(40):
        taken += contents(await (ours, theirs)[turn % 2].claim("q", 3, now=T))

    assert taken == [str(n) for n in range(100)]


async def test_a_delivery_by_one_store_can_be_settled_at_another(ours: Desk, theirs: Desk) -> None:
    await ours.produce("q", "a", "b", now=T)
    a, b = await theirs.claim("q", 2, now=T)

    assert await ours.ack("q", a, now=T) == [True]
    assert await theirs.ack("q", a, now=T) == [False]
    assert await ours.nack("q", Rejected(b.id, b.receipt, delay_ms=0), now=T) == [True]
    assert contents(await theirs.claim("q", 2, now=T)) == ["b"]


async def test_a_queue_made_by_one_store_is_known_to_the_others(ours: Desk, theirs: Desk) -> None:
    assert await ours.claim("q", now=T) == []
    await theirs.produce("q", "a", now=T)
    await ours.produce("q", "b", now=T)

    assert contents(await theirs.claim("q", 10, now=T)) == ["a", "b"]


async def test_everything_is_there_after_a_restart(new_store: OpenStore) -> None:
    before, after = Desk(new_store()), Desk(new_store())
    before.store.open()
    await before.produce("q", "ready", "leased", "nacked", now=T)
    ready, leased, nacked = await before.claim("q", 3, now=T)
    await before.release("q", ready, now=T)
    await before.nack("q", Rejected(nacked.id, nacked.receipt), now=T)
    await before.store.close()

    after.store.open()
    try:
        await after.store.ping()
        assert contents(await after.claim_due("q", 10, now=T)) == ["ready"]
        assert contents(await after.claim_due("q", 10, now=T + 1_000)) == ["nacked"]
        assert await after.ack("q", leased, now=T + 1_000) == [True]
    finally:
        await after.store.close()
