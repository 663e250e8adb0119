"""POST /api/v1/queues/{queue}/messages/nack"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_refused, assert_settled
from tests.contract.calls import (
    Delivery,
    claim,
    consume,
    produce,
    receive,
    renew,
    settle,
    settle_batch,
)
from tests.contract.conftest import Lapsed


def nack(api: httpx.Client, messages: str, *items: Mapping[str, object]) -> httpx.Response:
    return settle_batch(api, messages, "nack", *items)


def item(held: Delivery | Lapsed, **wish: object) -> dict[str, object]:
    return {"id": held.id, "receipt": held.receipt, **wish}


def test_each_message_has_its_own_delay(api: httpx.Client, messages: str) -> None:
    for _ in range(4):
        produce(api, messages)
    now, soon, default, late = (receive(api, messages) for _ in range(4))
    response = nack(
        api,
        messages,
        item(late, delayMs=3_600_000, reason="later"),
        item(default, reason="as ever", delayMs=None),
        item(soon, delayMs=200, reason=None),
        item(now, delayMs=0, reason=""),
    )
    assert_settled(response, [late.id, default.id, soon.id, now.id])
    assert [each["id"] for each in claim(api, messages, max=10)] == [now.id]
    order = [receive(api, messages, wait_ms=10_000).id for _ in range(2)]
    assert order == [soon.id, default.id]
    assert consume(api, messages) is None


def test_what_is_done_and_what_was_missed(
    api: httpx.Client, messages: str, other_messages: str
) -> None:
    for path in (messages, messages, other_messages):
        produce(api, path)
    first, second = receive(api, messages), receive(api, messages)
    foreign = receive(api, other_messages)
    unknown = {"id": str(uuid.uuid4()), "receipt": first.receipt}
    old, second = second, renew(api, messages, second)
    response = nack(api, messages, item(old), unknown, item(foreign), item(first), item(first))
    assert_settled(response, [first.id], [old.id, str(unknown["id"]), foreign.id, first.id])
    assert settle(api, messages, "ack", second.id, second.receipt).status_code == 204
    assert settle(api, other_messages, "ack", foreign.id, foreign.receipt).status_code == 204


def test_a_receipt_ends_with_its_lease(api: httpx.Client, lapsed: Lapsed) -> None:
    response = nack(api, lapsed.messages, item(lapsed, delayMs=3_600_000))
    assert_settled(response, missed=[lapsed.id])
    assert receive(api, lapsed.messages).id == lapsed.id


@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_a_thousand_with_the_longest_reasons(
    api: httpx.Client, messages: str, character: str
) -> None:
    batch = {"messages": [{"content": ""}] * 1000}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    items = [
        {"id": each["id"], "receipt": each["receipt"], "reason": character * 1024}
        for each in claim(api, messages, max=1000)
    ]
    assert_settled(nack(api, messages, *items), done=ids)
    assert consume(api, messages) is None


@pytest.mark.parametrize("count", [0, 1001])
def test_other_counts_are_refused(
    api: httpx.Client, messages: str, held: Delivery, count: int
) -> None:
    assert_invalid_body(nack(api, messages, *[item(held)] * count))
    assert_settled(nack(api, messages, item(held)), done=[held.id])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "x"}, "bad_request.messageId.invalid"),
        ({"receipt": "x"}, "bad_request.receipt.invalid"),
        ({"receipt": None}, "bad_request.body.invalid"),
        ({"delayMs": -1}, "bad_request.body.invalid"),
        ({"delayMs": 31_622_400_001}, "bad_request.body.invalid"),
        ({"delayMs": 1.5}, "bad_request.body.invalid"),
        ({"reason": "a" * 1025}, "bad_request.body.invalid"),
        ({"reason": 1}, "bad_request.body.invalid"),
        ({"visibilityMs": 1000}, "bad_request.body.invalid"),
    ],
)
def test_one_bad_item_and_nothing_is_done(
    api: httpx.Client, messages: str, held: Delivery, change: dict[str, object], code: str
) -> None:
    assert_refused(nack(api, messages, item(held), item(held) | change), 400, code)
    assert settle(api, messages, "ack", held.id, held.receipt).status_code == 204
