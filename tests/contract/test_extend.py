"""POST /api/v1/queues/{queue}/messages/{id}/extend"""

from __future__ import annotations

import time
import uuid

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_no_content, assert_refused
from tests.contract.calls import Delivery, claim, consume, produce, receive, renew, settle
from tests.contract.conftest import Lapsed


def extend(
    api: httpx.Client, messages: str, message_id: str, receipt: str | None, visibility_ms: object
) -> httpx.Response:
    return settle(api, messages, "extend", message_id, receipt, visibilityMs=visibility_ms)


def test_the_lease_ends_that_long_from_now(api: httpx.Client, messages: str) -> None:
    produce(api, messages)
    (held,) = claim(api, messages, visibilityMs=1_000)
    assert consume(api, messages, wait_ms=500) is None
    assert_no_content(extend(api, messages, held["id"], held["receipt"], 1_000))
    extended = time.monotonic()
    (again,) = claim(api, messages, wait_ms=10_000)
    assert 0.95 <= time.monotonic() - extended < 3
    assert (again["id"], again["attempts"]) == (held["id"], 2)


def test_an_extended_lease_outlives_its_first_end(api: httpx.Client, messages: str) -> None:
    produce(api, messages)
    (held,) = claim(api, messages, visibilityMs=1_000)
    assert_no_content(extend(api, messages, held["id"], held["receipt"], 60_000))
    assert consume(api, messages, wait_ms=1_200) is None
    assert_no_content(settle(api, messages, "ack", held["id"], held["receipt"]))


@pytest.mark.parametrize("visibility_ms", [1_000, 43_200_000])
def test_visibility_at_its_bounds(
    api: httpx.Client, messages: str, held: Delivery, visibility_ms: int
) -> None:
    assert_no_content(extend(api, messages, held.id, held.receipt, visibility_ms))


@pytest.mark.parametrize(
    "visibility_ms", [999, 43_200_001, 0, -1, None, "1000", 1000.0, True, 2**70, [1000]]
)
def test_other_visibilities_are_refused(
    api: httpx.Client, messages: str, held: Delivery, visibility_ms: object
) -> None:
    assert_invalid_body(extend(api, messages, held.id, held.receipt, visibility_ms))


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b'{"visibilityMs":1000,"delayMs":0}'])
def test_visibility_has_to_be_named_and_nothing_else(
    api: httpx.Client, messages: str, held: Delivery, body: bytes
) -> None:
    headers = {"X-Forq-Receipt": held.receipt}
    assert_invalid_body(api.post(f"{messages}/{held.id}/extend", content=body, headers=headers))


def test_the_receipt_stays_the_same(api: httpx.Client, messages: str, held: Delivery) -> None:
    for _ in range(3):
        assert_no_content(extend(api, messages, held.id, held.receipt, 60_000))
    assert_no_content(settle(api, messages, "ack", held.id, held.receipt))


@pytest.mark.parametrize("receipt", [None, "", "x"])
def test_the_receipt_is_required(
    api: httpx.Client, messages: str, held: Delivery, receipt: str | None
) -> None:
    response = extend(api, messages, held.id, receipt, 60_000)
    assert_refused(response, 400, "bad_request.receipt.invalid")


def test_an_old_receipt_changes_nothing(api: httpx.Client, messages: str, held: Delivery) -> None:
    again = renew(api, messages, held)
    response = extend(api, messages, held.id, held.receipt, 1_000)
    assert_refused(response, 404, "not_found.message")
    assert_no_content(extend(api, messages, again.id, again.receipt, 60_000))


def test_a_lease_that_is_over_cannot_be_extended(api: httpx.Client, lapsed: Lapsed) -> None:
    response = extend(api, lapsed.messages, lapsed.id, lapsed.receipt, 60_000)
    assert_refused(response, 404, "not_found.message")
    assert receive(api, lapsed.messages).id == lapsed.id


def test_a_message_that_is_done_cannot_be_extended(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    settle(api, messages, "ack", held.id, held.receipt)
    response = extend(api, messages, held.id, held.receipt, 60_000)
    assert_refused(response, 404, "not_found.message")


def test_another_queue_and_another_id(
    api: httpx.Client, messages: str, other_messages: str, held: Delivery
) -> None:
    for path, message_id in [(other_messages, held.id), (messages, str(uuid.uuid4()))]:
        response = extend(api, path, message_id, held.receipt, 1_000)
        assert_refused(response, 404, "not_found.message")
    response = extend(api, messages, "x", held.receipt, 1_000)
    assert_refused(response, 400, "bad_request.messageId.invalid")
