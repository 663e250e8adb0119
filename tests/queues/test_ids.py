"""Message ids are UUIDv7 that grow, and every text is an id, nobody's id, or none at all."""

from __future__ import annotations

import uuid
from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from queues import ids

T = 1_700_000_000_000
keys = st.integers(0, (1 << 63) - 1)
tails = st.integers(0, (1 << ids.TAIL_BITS) - 1)


def take(source: ids.IdSource, count: int, now_ms: int) -> list[int]:
    return [ids.join(key, ids.new_tail()) for key in source.take(count, now_ms)]


@given(keys, tails)
def test_an_id_is_its_parts_and_a_uuid_of_version_7(key: int, tail: int) -> None:
    message_id = ids.join(key, tail)
    text = ids.to_text(message_id)

    assert (ids.key_of(message_id), ids.tail_of(message_id)) == (key, tail)
    assert ids.received_at(message_id) == key >> ids.COUNTER_BITS
    assert ids.parse(text) == message_id
    assert ids.parse(text.upper()) == message_id
    assert (uuid.UUID(text).version, uuid.UUID(text).variant) == (7, uuid.RFC_4122)
    assert str(uuid.UUID(text)) == text


@given(keys, tails, keys, tails)
def test_order_of_ids_is_order_of_their_keys(
    key: int, tail: int, other_key: int, other_tail: int
) -> None:
    first, second = ids.join(key, tail), ids.join(other_key, other_tail)

    assert (first < second) == ((key, tail) < (other_key, other_tail))
    assert (ids.to_text(first) < ids.to_text(second)) == (first < second)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(T - 3, T + 3)), max_size=30))
def test_ids_only_grow_whatever_the_clock_does(steps: list[tuple[int, int]]) -> None:
    source = ids.IdSource()
    given_out = [each for count, now in steps for each in take(source, count, now)]

    assert len(given_out) == sum(count for count, _ in steps)
    assert all(earlier < later for earlier, later in pairwise(given_out))


@given(st.lists(st.integers(T, T + 5), max_size=30))
def test_an_id_carries_its_millisecond_while_the_clock_goes_forward(times: list[int]) -> None:
    source = ids.IdSource()

    for now in sorted(times):
        assert {ids.received_at(each) for each in take(source, 100, now)} == {now}


def test_a_millisecond_has_room_for_a_million_ids() -> None:
    source = ids.IdSource()
    taken = source.take(1_000_000, T)

    assert len(taken) == 1_000_000
    assert (taken[0] >> ids.COUNTER_BITS, taken[-1] >> ids.COUNTER_BITS) == (T, T)


def test_a_source_stays_behind_what_others_gave_out() -> None:
    ours, theirs = ids.IdSource(), ids.IdSource()
    (their,) = theirs.take(1, T + 60_000)

    ours.follow(their)
    (our,) = ours.take(1, T)
    assert our > their

    ours.follow(T)
    assert ours.take(1, T)[0] > our


def test_two_sources_in_one_millisecond_hardly_ever_meet() -> None:
    starts = {ids.IdSource().take(1, T)[0] for _ in range(100)}
    tails_seen = {ids.new_tail() for _ in range(100)}

    assert len(starts) > 90
    assert len(tails_seen) == 100


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "018bcfe5-6800-7000-8000-00000000000",
        "018bcfe5-6800-7000-8000-0000000000000",
        "018bcfe568007000800000000000000000",
        "018bcfe5680070008000000000000000",
        "{018bcfe5-6800-7000-8000-000000000000}",
        "urn:uuid:018bcfe5-6800-7000-8000-000000000000",
        "018bcfe5-6800-7000-8000-00000000000g",
        "018bcfe5-6800-7000-8000-000000000000\n",
        " 018bcfe5-6800-7000-8000-000000000000",
        "018bcfe5-6800-7000-8000-0000000000_0",
        "018bcfe5-6800-7000-8000-00000000000\N{FULLWIDTH DIGIT ZERO}",
        "018bcfe5-6800-7000-8000-00000000000\N{ARABIC-INDIC DIGIT ONE}",
        "018bcfe56800-7000-8000-000000000000-",
    ],
)
def test_what_is_no_uuid_is_no_id(text: str) -> None:
    assert ids.parse(text) is None


@given(st.uuids())
def test_every_other_uuid_is_nobodys(other: uuid.UUID) -> None:
    parsed = ids.parse(str(other))

    if other.version == 7 and other.int >> 80 < 1 << 42:
        assert parsed == other.int
    else:
        assert parsed == ids.NOBODY


@given(st.text())
def test_any_text_at_all_is_an_id_or_not(text: str) -> None:
    parsed = ids.parse(text)

    assert parsed is None or len(text) == 36
