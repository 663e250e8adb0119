"""A dedup key names one message while it is in the queue, and for five minutes after it left."""

from __future__ import annotations

import pytest

from queues.limits import DEDUP_WINDOW_MS
from queues.rules import QueueRules
from queues.store.operations import NewMessage, Rejected, Settled
from tests.queues.desk import LEASE_MS, RULES, Desk, contents, produce
from tests.queues.store.conformance.conftest import OpenDesk

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


def keyed(content: str, key: str = "k", process_after: int = 0) -> NewMessage:
    return NewMessage(content, process_after, dedup_key=key)


async def test_a_second_message_with_the_key_is_not_stored(desk: Desk) -> None:
    (first,) = await desk.produce("q", keyed("a"), now=T)
    second = produce("q", keyed("b"))

    committed = await desk.commit(second, now=T + 1)

    assert (second.ids, second.duplicates) == ([first], 1)
    assert committed.woken == {}
    assert contents(await desk.claim("q", 10, now=T + 1)) == ["a"]


async def test_keys_count_within_one_operation(desk: Desk) -> None:
    operation = produce("q", keyed("a"), "plain", keyed("b"), keyed("c", "other"), keyed("d"))

    await desk.commit(operation, now=T)

    a, plain, b, c, d = operation.ids
    assert operation.duplicates == 2
    assert (b, d) == (a, a)
    assert len({a, plain, c}) == 3
    assert contents(await desk.claim("q", 10, now=T)) == ["a", "plain", "c"]


async def test_keys_count_within_one_group(desk: Desk) -> None:
    operations = [produce("q", keyed(text)) for text in "abc"]

    await desk.commit(*operations, now=T)

    assert len({each.ids[0] for each in operations}) == 1
    assert [each.duplicates for each in operations] == [0, 1, 1]
    assert contents(await desk.claim("q", 10, now=T)) == ["a"]


async def test_a_key_belongs_to_its_queue(desk: Desk) -> None:
    await desk.produce("q", keyed("a"), now=T)
    await desk.produce("r", keyed("b"), now=T)

    assert contents(await desk.claim("r", 10, now=T)) == ["b"]


@pytest.mark.parametrize(
    "key",
    ["K", "k ", "k\0", "\N{FULLWIDTH LATIN SMALL LETTER K}", "k\N{COMBINING DOT BELOW}"],
    ids=ascii,
)
async def test_keys_are_the_same_only_character_for_character(desk: Desk, key: str) -> None:
    await desk.produce("q", keyed("a"), now=T)
    await desk.produce("q", keyed("b", key), now=T)
    await desk.produce("q", keyed("c", key), now=T)

    assert contents(await desk.claim("q", 10, now=T)) == ["a", "b"]


async def test_a_message_holds_its_key_in_every_state(desk: Desk) -> None:
    (given,) = await desk.produce("q", keyed("a", process_after=T + 100), now=T)

    async def is_held(now: int) -> bool:
        return await desk.produce("q", keyed("again"), now=now) == [given]

    assert await is_held(T + 10)
    now = T + 100
    for _ in range(RULES.max_attempts):
        (message,) = await desk.claim_due("q", now=now)
        assert await is_held(now)
        await desk.nack("q", Rejected(message.id, message.receipt, delay_ms=500), now=now)
        assert await is_held(now)
        now += 500
    assert await desk.claim_due("q", now=now) == []
    assert await is_held(now + 10 * DEDUP_WINDOW_MS)


@pytest.mark.parametrize("with_receipt", [True, False])
async def test_the_key_is_free_five_minutes_after_the_ack_to_the_millisecond(
    desk: Desk, *, with_receipt: bool
) -> None:
    await desk.produce("q", keyed("a"), now=T)
    (a,) = await desk.claim("q", now=T)
    left = T + 1_000
    held = Settled(a.id, a.receipt if with_receipt else None)
    assert await desk.ack("q", held, now=left) == [True]

    assert await desk.produce("q", keyed("b"), now=left) == [a.id]
    assert await desk.produce("q", keyed("c"), now=left + DEDUP_WINDOW_MS - 1) == [a.id]
    (d,) = await desk.produce("q", keyed("d"), now=left + DEDUP_WINDOW_MS)

    assert d != a.id
    assert [m.id for m in await desk.claim("q", 10, now=left + DEDUP_WINDOW_MS)] == [d]


async def test_the_next_holder_starts_anew(desk: Desk) -> None:
    now = T
    for text in "abc":
        (given,) = await desk.produce("q", keyed(text), now=now)
        (message,) = await desk.claim("q", now=now)
        assert (message.id, message.content) == (given, text)
        assert await desk.produce("q", keyed("again"), now=now + DEDUP_WINDOW_MS) == [given]
        assert await desk.ack("q", message, now=now + 1) == [True]
        now += 1 + DEDUP_WINDOW_MS


async def test_an_ack_that_misses_leaves_the_key_held(desk: Desk) -> None:
    (given,) = await desk.produce("q", keyed("a"), now=T)
    (message,) = await desk.claim("q", now=T)

    assert await desk.ack("q", Settled(message.id, message.receipt ^ 2), now=T) == [False]
    assert await desk.ack("q", message, now=T + LEASE_MS) == [False]

    assert await desk.produce("q", keyed("b"), now=T + LEASE_MS + DEDUP_WINDOW_MS) == [given]


async def test_a_failed_operation_takes_no_key(desk: Desk) -> None:
    failing = produce("q", keyed("a"), NewMessage("\ud800"))
    following = produce("q", keyed("b"))

    await desk.commit(failing, following, now=T)

    assert failing.error is not None
    assert following.error is None
    assert following.duplicates == 0
    assert contents(await desk.claim("q", 10, now=T)) == ["b"]


async def test_keys_are_seen_from_every_store(open_desk: OpenDesk) -> None:
    ours, theirs = open_desk(), open_desk()
    (given,) = await ours.produce("q", keyed("a"), now=T)
    assert await theirs.produce("q", keyed("b"), now=T) == [given]

    (message,) = await theirs.claim("q", now=T)
    await theirs.ack("q", message, now=T)

    assert await ours.produce("q", keyed("c"), now=T + DEDUP_WINDOW_MS - 1) == [given]
    assert await ours.produce("q", keyed("d"), now=T + DEDUP_WINDOW_MS) != [given]


async def test_messages_without_a_key_are_never_duplicates(desk: Desk) -> None:
    rules = QueueRules()
    operation = produce("q", "same", "same", rules=rules)

    await desk.commit(operation, now=T)

    assert operation.duplicates == 0
    assert contents(await desk.claim("q", 10, now=T)) == ["same", "same"]
