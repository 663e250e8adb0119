"""POST /api/v1/queues/{queue}/messages/ack"""

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


def ack(api: httpx.Client, messages: str, *items: Mapping[str, object]) -> httpx.Response:
    return settle_batch(api, messages, "ack", *items)


def item(held: Delivery | Lapsed) -> dict[str, object]:
    return {"id": held.id, "receipt": held.receipt}


def test_what_is_done_and_what_was_missed(
    api: httpx.Client, messages: str, other_messages: str
) -> None:
    for path in (messages, messages, messages, other_messages):
        produce(api, path)
    first, second, third = (receive(api, messages) for _ in range(3))
    foreign = receive(api, other_messages)
    settle(api, messages, "ack", second.id, second.receipt)
    unknown = {"id": str(uuid.uuid4()), "receipt": first.receipt}
    response = ack(api, messages, item(third), item(second), unknown, item(foreign), item(first))
    assert_settled(response, [third.id, first.id], [second.id, str(unknown["id"]), foreign.id])
    assert settle(api, other_messages, "ack", foreign.id, foreign.receipt).status_code == 204


def test_done_means_gone(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_settled(ack(api, messages, item(held)), done=[held.id])
    assert_settled(ack(api, messages, item(held)), missed=[held.id])


def test_an_item_twice_is_done_once(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_settled(ack(api, messages, item(held), item(held)), [held.id], [held.id])


def test_an_old_receipt_changes_nothing(api: httpx.Client, messages: str, held: Delivery) -> None:
    again = renew(api, messages, held)
    assert_settled(ack(api, messages, item(held)), missed=[held.id])
    assert_settled(ack(api, messages, item(again)), done=[held.id])


def test_a_receipt_ends_with_its_lease(api: httpx.Client, lapsed: Lapsed) -> None:
    assert_settled(ack(api, lapsed.messages, item(lapsed)), missed=[lapsed.id])
    assert receive(api, lapsed.messages).id == lapsed.id


def test_a_message_with_a_dedup_key(api: httpx.Client, messages: str) -> None:
    first = produce(api, messages, dedupKey="k")
    assert_settled(ack(api, messages, item(receive(api, messages))), done=[first])
    assert produce(api, messages, dedupKey="k") == first


def test_a_thousand_at_once(api: httpx.Client, messages: str) -> None:
    batch = {"messages": [{"content": ""}] * 1000}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    items = [
        {"id": each["id"], "receipt": each["receipt"]} for each in claim(api, messages, max=1000)
    ]
    assert_settled(ack(api, messages, *items), done=ids)
    assert consume(api, messages) is None


@pytest.mark.parametrize("count", [0, 1001])
def test_other_counts_are_refused(
    api: httpx.Client, messages: str, held: Delivery, count: int
) -> None:
    assert_invalid_body(ack(api, messages, *[item(held)] * count))
    assert_settled(ack(api, messages, item(held)), done=[held.id])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "x"}, "bad_request.messageId.invalid"),
        ({"id": ""}, "bad_request.messageId.invalid"),
        ({"receipt": "x"}, "bad_request.receipt.invalid"),
        ({"receipt": ""}, "bad_request.receipt.invalid"),
        ({"id": None}, "bad_request.body.invalid"),
        ({"receipt": None}, "bad_request.body.invalid"),
        ({"receipt": 1}, "bad_request.body.invalid"),
        ({"delayMs": 1}, "bad_request.body.invalid"),
    ],
)
def test_one_bad_item_and_nothing_is_done(
    api: httpx.Client, messages: str, held: Delivery, change: dict[str, object], code: str
) -> None:
    assert_refused(ack(api, messages, item(held), item(held) | change), 400, code)
    assert_settled(ack(api, messages, item(held)), done=[held.id])


@pytest.mark.parametrize("missing", ["id", "receipt"])
def test_id_and_receipt_are_required(
    api: httpx.Client, messages: str, held: Delivery, missing: str
) -> None:
    incomplete = {name: value for name, value in item(held).items() if name != missing}
    assert_invalid_body(ack(api, messages, incomplete))


def test_the_body_may_be_as_large_as_any_batch(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    body = b'{"messages":[{"id":"%b","receipt":"%b"}]}' % (
        held.id.encode(),
        held.receipt.encode(),
    )
    response = api.post(f"{messages}/ack", content=body.ljust(64 * 1024 * 1024 + 1))
    assert_refused(response, 413, "bad_request.body.content.exceeds_limit")
    response = api.post(f"{messages}/ack", content=body.ljust(3 * 1024 * 1024))
    assert_settled(response, done=[held.id])
