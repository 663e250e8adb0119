"""POST /api/v1/queues/{queue}/messages/{id}/ack"""

from __future__ import annotations

import uuid

import httpx
import pytest

from tests.contract.answers import assert_no_content, assert_refused
from tests.contract.calls import Delivery, consume, produce, receive, renew, settle
from tests.contract.conftest import Lapsed


def ack(
    api: httpx.Client, messages: str, message_id: str, receipt: str | None = None
) -> httpx.Response:
    return settle(api, messages, "ack", message_id, receipt)


def test_a_message_is_done(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_no_content(ack(api, messages, held.id, held.receipt))
    response = settle(api, messages, "nack", held.id, None)
    assert_refused(response, 404, "not_found.message")


def test_a_second_ack_finds_nothing(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_no_content(ack(api, messages, held.id, held.receipt))
    assert_refused(ack(api, messages, held.id, held.receipt), 404, "not_found.message")


def test_an_old_receipt_changes_nothing(api: httpx.Client, messages: str, held: Delivery) -> None:
    again = renew(api, messages, held)
    assert_refused(ack(api, messages, held.id, held.receipt), 404, "not_found.message")
    assert_no_content(ack(api, messages, again.id, again.receipt))


def test_the_receipt_of_another_message_changes_nothing(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    produce(api, messages)
    other = receive(api, messages)
    assert_refused(ack(api, messages, held.id, other.receipt), 404, "not_found.message")
    assert_no_content(ack(api, messages, held.id, held.receipt))
    assert_no_content(ack(api, messages, other.id, other.receipt))


def test_a_receipt_ends_with_its_lease(api: httpx.Client, lapsed: Lapsed) -> None:
    response = ack(api, lapsed.messages, lapsed.id, lapsed.receipt)
    assert_refused(response, 404, "not_found.message")
    assert receive(api, lapsed.messages).id == lapsed.id


def test_a_receipt_ends_with_a_nack(api: httpx.Client, messages: str, held: Delivery) -> None:
    settle(api, messages, "nack", held.id, held.receipt, delayMs=0)
    assert_refused(ack(api, messages, held.id, held.receipt), 404, "not_found.message")
    assert receive(api, messages).id == held.id


def test_another_queue_has_no_such_message(
    api: httpx.Client, messages: str, other_messages: str, held: Delivery
) -> None:
    produce(api, other_messages)
    response = ack(api, other_messages, held.id, held.receipt)
    assert_refused(response, 404, "not_found.message")
    assert_no_content(ack(api, other_messages, held.id))
    assert_no_content(ack(api, messages, held.id, held.receipt))


def test_a_queue_that_does_not_exist_has_no_messages(
    api: httpx.Client, messages: str, held: Delivery, other_messages: str
) -> None:
    response = ack(api, other_messages, held.id, held.receipt)
    assert_refused(response, 404, "not_found.message")
    assert_no_content(ack(api, other_messages, held.id))


def test_without_a_receipt_it_applies_to_whoever_holds_the_message(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    assert_no_content(ack(api, messages, held.id))
    assert_refused(ack(api, messages, held.id, held.receipt), 404, "not_found.message")
    assert_no_content(ack(api, messages, held.id))


def test_without_a_receipt_a_message_nobody_holds_stays(
    api: httpx.Client, messages: str, lapsed: Lapsed
) -> None:
    message_id = produce(api, messages)
    assert_no_content(ack(api, messages, message_id))
    assert receive(api, messages).id == message_id
    assert_no_content(ack(api, lapsed.messages, lapsed.id))
    assert receive(api, lapsed.messages).id == lapsed.id


@pytest.mark.parametrize(
    "message_id",
    ["5b2f1d1e-8c1f-4f7e-9d55-3f0f4b8a7c21", str(uuid.UUID(int=0)), str(uuid.UUID(int=2**128 - 1))],
)
def test_a_uuid_that_no_message_can_have(
    api: httpx.Client, messages: str, held: Delivery, message_id: str
) -> None:
    assert_refused(ack(api, messages, message_id, held.receipt), 404, "not_found.message")
    assert_no_content(ack(api, messages, message_id))


def test_an_id_that_differs_in_one_digit_is_another_message(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    last = "0" if held.id[-1] != "0" else "1"
    response = ack(api, messages, held.id[:-1] + last, held.receipt)
    assert_refused(response, 404, "not_found.message")
    assert_no_content(ack(api, messages, held.id, held.receipt))


def test_an_id_in_capitals_is_the_same(api: httpx.Client, messages: str, held: Delivery) -> None:
    assert_no_content(ack(api, messages, held.id.upper(), held.receipt))
    assert_refused(ack(api, messages, held.id, held.receipt), 404, "not_found.message")


@pytest.mark.parametrize(
    "message_id",
    [
        "x",
        "1",
        "0190b5a0-0000-7000-8000-00000000000",
        "0190b5a0-0000-7000-8000-0000000000000",
        "0190b5a000007000800000000000000a",
        "{0190b5a0-0000-7000-8000-000000000000}",
        "urn:uuid:0190b5a0-0000-7000-8000-000000000000",
        "0190b5a0-0000-7000-8000-00000000000g",
        "0190b5a0%2D0000-7000-8000-00000000000%0A",
        "%D9%A1190b5a0-0000-7000-8000-00000000000",
        "%20",
    ],
)
@pytest.mark.parametrize("receipt", [None, "4000000000000000"])
def test_what_is_not_a_uuid_is_no_id(
    api: httpx.Client, messages: str, message_id: str, receipt: str | None
) -> None:
    response = ack(api, messages, message_id, receipt)
    assert_refused(response, 400, "bad_request.messageId.invalid")


@pytest.mark.parametrize(
    "receipt", ["", "x", "0", "-1", "4" * 15, "4" * 17, "g" * 16, "f" * 16, "0x40000000000000"]
)
def test_what_cannot_be_a_receipt(
    api: httpx.Client, messages: str, held: Delivery, receipt: str
) -> None:
    response = ack(api, messages, held.id, receipt)
    assert_refused(response, 400, "bad_request.receipt.invalid")
    assert_no_content(ack(api, messages, held.id, held.receipt))


def test_a_body_does_not_matter(api: httpx.Client, messages: str, held: Delivery) -> None:
    response = api.post(
        f"{messages}/{held.id}/ack",
        content=b"not even JSON",
        headers={"X-Forq-Receipt": held.receipt},
    )
    assert_no_content(response)
    assert consume(api, messages) is None
