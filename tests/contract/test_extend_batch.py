"""POST /api/v1/queues/{queue}/messages/extend"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_refused, assert_settled
from tests.contract.calls import (
    Delivery,
    claim,
    produce,
    receive,
    renew,
    settle,
    settle_batch,
)
from tests.contract.conftest import Lapsed


def extend(api: httpx.Client, messages: str, *items: Mapping[str, object]) -> httpx.Response:
    return settle_batch(api, messages, "extend", *items)


def item(held: Delivery | Lapsed, visibility_ms: object = 60_000) -> dict[str, object]:
    return {"id": held.id, "receipt": held.receipt, "visibilityMs": visibility_ms}


def test_each_lease_ends_as_long_from_now_as_its_item_says(
    api: httpx.Client, messages: str
) -> None:
    for _ in range(3):
        produce(api, messages)
    long, short, kept = (receive(api, messages) for _ in range(3))
    response = extend(api, messages, item(short, 1_000), item(long, 43_200_000))
    assert_settled(response, [short.id, long.id])
    assert [each["id"] for each in claim(api, messages, wait_ms=10_000, max=3)] == [short.id]
    for held in (long, kept):
        assert settle(api, messages, "ack", held.id, held.receipt).status_code == 204


def test_what_is_done_and_what_was_missed(
    api: httpx.Client, messages: str, other_messages: str, held: Delivery
) -> None:
    produce(api, other_messages)
    foreign = receive(api, other_messages)
    again = renew(api, messages, held)
    unknown = item(again) | {"id": str(uuid.uuid4())}
    response = extend(api, messages, item(held), unknown, item(foreign), item(again), item(again))
    assert_settled(response, [held.id, held.id], [held.id, str(unknown["id"]), foreign.id])


def test_a_lease_that_is_over_cannot_be_extended(api: httpx.Client, lapsed: Lapsed) -> None:
    assert_settled(extend(api, lapsed.messages, item(lapsed)), missed=[lapsed.id])
    assert receive(api, lapsed.messages).id == lapsed.id


def test_a_thousand_at_once(api: httpx.Client, messages: str) -> None:
    batch = {"messages": [{"content": ""}] * 1000}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    items = [
        {"id": each["id"], "receipt": each["receipt"], "visibilityMs": 60_000}
        for each in claim(api, messages, max=1000)
    ]
    assert_settled(extend(api, messages, *items), done=ids)


@pytest.mark.parametrize("count", [0, 1001])
def test_other_counts_are_refused(
    api: httpx.Client, messages: str, held: Delivery, count: int
) -> None:
    assert_invalid_body(extend(api, messages, *[item(held)] * count))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "x"}, "bad_request.messageId.invalid"),
        ({"receipt": "x"}, "bad_request.receipt.invalid"),
        ({"receipt": None}, "bad_request.body.invalid"),
        ({"visibilityMs": 999}, "bad_request.body.invalid"),
        ({"visibilityMs": 43_200_001}, "bad_request.body.invalid"),
        ({"visibilityMs": None}, "bad_request.body.invalid"),
        ({"visibilityMs": "1000"}, "bad_request.body.invalid"),
        ({"delayMs": 0}, "bad_request.body.invalid"),
    ],
)
def test_one_bad_item_and_no_lease_is_moved(
    api: httpx.Client, messages: str, held: Delivery, change: dict[str, object], code: str
) -> None:
    response = extend(api, messages, item(held, 1_000), item(held) | change)
    assert_refused(response, 400, code)


def test_visibility_has_to_be_named(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_invalid_body(extend(api, messages, {"id": held.id, "receipt": held.receipt}))
