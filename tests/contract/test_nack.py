"""POST /api/v1/queues/{queue}/messages/{id}/nack"""

from __future__ import annotations

import time
import uuid

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_no_content, assert_refused
from tests.contract.calls import Delivery, claim, consume, produce, receive, renew, settle
from tests.contract.conftest import Lapsed


def nack(
    api: httpx.Client,
    messages: str,
    message_id: str,
    receipt: str | None = None,
    **wish: object,
) -> httpx.Response:
    return settle(api, messages, "nack", message_id, receipt, **wish)


def test_without_a_body_the_message_comes_back_after_a_second(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    assert_no_content(nack(api, messages, held.id, held.receipt))
    nacked = time.monotonic()
    assert consume(api, messages) is None
    (again,) = claim(api, messages, wait_ms=10_000)
    assert 0.9 <= time.monotonic() - nacked < 3
    assert (again["id"], again["attempts"]) == (held.id, 2)


def test_a_delay_of_ones_own(api: httpx.Client, messages: str, held: Delivery) -> None:
    # The second attempt's delay would be five seconds.
    again = renew(api, messages, held)
    assert_no_content(nack(api, messages, again.id, again.receipt, delayMs=300))
    nacked = time.monotonic()
    assert consume(api, messages) is None
    assert receive(api, messages, wait_ms=10_000).id == held.id
    assert 0.25 <= time.monotonic() - nacked < 3


def test_no_delay(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_no_content(nack(api, messages, held.id, held.receipt, delayMs=0))
    assert receive(api, messages).id == held.id


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"delayMs":null,"reason":null}',
        b'{"reason":""}',
        '{"reason":"é\\u0000😀"}'.encode(),
        b'{"delayMs":31622400000}',
        b'{"delayMs":1000,"reason":"both"}',
    ],
)
def test_every_wish_is_optional(
    api: httpx.Client, messages: str, held: Delivery, body: bytes
) -> None:
    headers = {"X-Forq-Receipt": held.receipt}
    response = api.post(f"{messages}/{held.id}/nack", content=body, headers=headers)
    assert_no_content(response)
    assert consume(api, messages) is None


@pytest.mark.parametrize(
    "wish",
    [
        {"delayMs": -1},
        {"delayMs": 1.0},
        {"delayMs": "1"},
        {"delayMs": True},
        {"delayMs": 31_622_400_001},
        {"delayMs": 2**80},
        {"reason": 1},
        {"reason": ["a"]},
        {"reason": "a" * 1025},
        {"reason": "😀" * 1025},
        {"delay": 1},
        {"visibilityMs": 1000},
    ],
)
def test_other_wishes_are_refused(
    api: httpx.Client, messages: str, held: Delivery, wish: dict[str, object]
) -> None:
    assert_invalid_body(nack(api, messages, held.id, held.receipt, **wish))
    assert_no_content(settle(api, messages, "ack", held.id, held.receipt))


@pytest.mark.parametrize("character", ["a", "😀"])
def test_a_reason_has_up_to_1024_characters(
    api: httpx.Client, messages: str, held: Delivery, character: str
) -> None:
    assert_no_content(nack(api, messages, held.id, held.receipt, reason=character * 1024))


def test_nothing_to_nack(api: httpx.Client, messages: str, lapsed: Lapsed) -> None:
    waiting = produce(api, messages)
    for message_id in (waiting, str(uuid.uuid4()), lapsed.id):
        assert_refused(nack(api, messages, message_id), 404, "not_found.message")
    assert_refused(nack(api, lapsed.messages, lapsed.id), 404, "not_found.message")
    assert receive(api, messages).id == waiting


def test_nothing_left_to_nack(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_no_content(nack(api, messages, held.id, delayMs=3_600_000))
    assert_refused(nack(api, messages, held.id), 404, "not_found.message")
    assert_refused(nack(api, messages, held.id, held.receipt), 404, "not_found.message")


def test_without_a_receipt_it_applies_to_whoever_holds_the_message(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    assert_no_content(nack(api, messages, held.id, delayMs=0))
    assert receive(api, messages).id == held.id


def test_an_old_receipt_changes_nothing(api: httpx.Client, messages: str, held: Delivery) -> None:
    again = renew(api, messages, held)
    response = nack(api, messages, held.id, held.receipt, delayMs=0)
    assert_refused(response, 404, "not_found.message")
    assert consume(api, messages) is None
    assert_no_content(settle(api, messages, "ack", again.id, again.receipt))


def test_a_receipt_ends_with_its_lease(api: httpx.Client, lapsed: Lapsed) -> None:
    response = nack(api, lapsed.messages, lapsed.id, lapsed.receipt, delayMs=3_600_000)
    assert_refused(response, 404, "not_found.message")
    assert receive(api, lapsed.messages).id == lapsed.id


def test_another_queue_has_no_such_message(
    api: httpx.Client, messages: str, other_messages: str, held: Delivery
) -> None:
    produce(api, other_messages)
    for receipt in (held.receipt, None):
        response = nack(api, other_messages, held.id, receipt)
        assert_refused(response, 404, "not_found.message")
    assert_no_content(settle(api, messages, "ack", held.id, held.receipt))


def test_after_five_deliveries_the_message_is_not_delivered_again(
    api: httpx.Client, messages: str
) -> None:
    produce(api, messages)
    deliveries = []
    for _ in range(5):
        deliveries.append(held := receive(api, messages))
        assert_no_content(nack(api, messages, held.id, held.receipt, delayMs=0))
    assert len({each.receipt for each in deliveries}) == 5
    assert consume(api, messages, wait_ms=200) is None
    response = nack(api, messages, deliveries[-1].id, deliveries[-1].receipt)
    assert_refused(response, 404, "not_found.message")


def test_a_bad_id_and_a_bad_receipt(api: httpx.Client, messages: str, held: Delivery) -> None:
    response = nack(api, messages, "x", held.receipt)
    assert_refused(response, 400, "bad_request.messageId.invalid")
    response = nack(api, messages, held.id, "x")
    assert_refused(response, 400, "bad_request.receipt.invalid")
    assert_no_content(settle(api, messages, "ack", held.id, held.receipt))
