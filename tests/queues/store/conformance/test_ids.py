"""Ids grow in the order of commits and carry the time of arrival, whoever gives them out."""

from __future__ import annotations

from itertools import pairwise

import pytest

from queues import ids
from tests.queues.desk import Desk, produce
from tests.queues.store.conformance.conftest import OpenDesk

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


async def test_an_id_carries_the_millisecond_of_arrival(desk: Desk) -> None:
    for now in (T, T, T + 1, T + 86_400_000):
        (given,) = await desk.produce("q", "a", now=now)
        assert ids.received_at(given) == now


async def test_ids_grow_within_a_batch_a_group_and_a_millisecond(desk: Desk) -> None:
    given: list[int] = []
    for now in (T, T, T + 1):
        operations = [produce("q", "a", "b", "c"), produce("r", "d"), produce("q", "e", "f")]
        await desk.commit(*operations, now=now)
        given += [each for operation in operations for each in operation.ids]

    assert all(earlier < later for earlier, later in pairwise(given))


async def test_ids_grow_though_the_clock_steps_back(desk: Desk) -> None:
    given = [(await desk.produce("q", "a", now=now))[0] for now in (T, T - 1, T - 3_600_000, T)]

    assert all(earlier < later for earlier, later in pairwise(given))


async def test_ids_grow_over_a_restart_though_the_clock_steps_back(open_desk: OpenDesk) -> None:
    (before,) = await open_desk().produce("q", "a", now=T)

    (after,) = await open_desk().produce("q", "b", now=T - 3_600_000)

    assert after > before


async def test_ids_of_two_stores_interleave_in_the_order_of_commits(open_desk: OpenDesk) -> None:
    desks = [open_desk(), open_desk()]
    given = []
    for turn in range(300):
        desk = desks[turn * turn % 7 % 2]
        given += await desk.produce("q", *(["x"] * (1 + turn % 3)), now=T + turn // 50)

    assert all(earlier < later for earlier, later in pairwise(given))
    assert {ids.received_at(each) for each in given} == set(range(T, T + 6))
    assert [m.id for m in await desks[0].claim("q", 1_000, now=T + 6)] == given


async def test_a_store_whose_clock_is_behind_follows_the_others_ids(open_desk: OpenDesk) -> None:
    ahead, behind = open_desk(), open_desk()
    given = []
    for _ in range(20):
        given += await ahead.produce("q", "a", now=T)
        given += await behind.produce("q", "b", now=T - 250)

    assert all(earlier < later for earlier, later in pairwise(given))


async def test_an_id_in_text_form_finds_its_message(desk: Desk) -> None:
    (given,) = await desk.produce("q", "a", now=T)
    (message,) = await desk.claim("q", now=T)

    parsed = ids.parse(ids.to_text(given))

    assert parsed == message.id
    assert await desk.ack("q", message._replace(id=parsed), now=T) == [True]
