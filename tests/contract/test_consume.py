"""GET /api/v1/queues/{queue}/messages"""

from __future__ import annotations

import time

import httpx
import pytest

from tests.contract.answers import assert_no_content, assert_refused
from tests.contract.calls import Delivery, consume, produce, receive, settle


def test_answers_exactly_id_content_and_receipt(api: httpx.Client, messages: str) -> None:
    message_id = produce(api, messages, "hello", priority=7, dedupKey="k")
    response = api.get(messages)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    answer = response.json()
    assert list(answer) == ["id", "content", "receipt"]
    assert (answer["id"], answer["content"]) == (message_id, "hello")
    assert isinstance(answer["receipt"], str)
    assert answer["receipt"]


def test_answers_nothing_when_none_came_in_time(api: httpx.Client, messages: str) -> None:
    started = time.monotonic()
    assert_no_content(api.get(messages, params={"waitMs": 300}))
    assert 0.3 <= time.monotonic() - started < 2


def test_does_not_wait_if_told_so(api: httpx.Client, messages: str) -> None:
    started = time.monotonic()
    assert_no_content(api.get(messages, params={"waitMs": 0}))
    assert time.monotonic() - started < 1


def test_takes_one_message_at_a_time_in_order(api: httpx.Client, messages: str) -> None:
    ids = [produce(api, messages) for _ in range(5)]
    assert [receive(api, messages).id for _ in range(5)] == ids
    assert consume(api, messages) is None


def test_a_message_that_is_held_is_not_delivered_again(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    assert held.content == "content"
    assert consume(api, messages) is None


def test_a_message_that_comes_back_keeps_its_place(api: httpx.Client, messages: str) -> None:
    first, second = produce(api, messages), produce(api, messages)
    held = receive(api, messages)
    assert held.id == first
    settle(api, messages, "nack", held.id, held.receipt, delayMs=0)
    third = produce(api, messages)
    assert [receive(api, messages).id for _ in range(3)] == [first, second, third]


@pytest.mark.parametrize("wait_ms", ["0", "1", "30000", "00000"])
def test_wait_ms_within_its_bounds(api: httpx.Client, messages: str, wait_ms: str) -> None:
    produce(api, messages)
    assert api.get(f"{messages}?waitMs={wait_ms}").status_code == 200


def test_an_empty_query_is_none(api: httpx.Client, messages: str) -> None:
    produce(api, messages)
    assert api.get(f"{messages}?").status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "waitMs=30001",
        "waitMs=-1",
        "waitMs=x",
        "waitMs=",
        "waitMs",
        "waitMs=1.5",
        "waitMs=1e3",
        "waitMs=+1",
        "waitMs=%201",
        "waitMs=0x10",
        "waitMs=1_0",
        "waitMs=true",
        "waitMs=null",
        "waitMs=99999999999999999999999",
        "waitMs=%D9%A1",
        "waitMs=%ff",
        "waitMs=0&waitMs=0",
        "waitMs=0&limit=1",
        "waitms=0",
        "max=1",
        "=0",
        "&",
        "%ff=0",
    ],
)
def test_any_other_query_is_refused(api: httpx.Client, messages: str, query: str) -> None:
    message_id = produce(api, messages)
    response = api.get(f"{messages}?{query}")
    assert_refused(response, 400, "bad_request.query.invalid")
    assert receive(api, messages).id == message_id


def test_a_queue_nobody_produced_to_is_empty(api: httpx.Client, messages: str) -> None:
    assert consume(api, messages) is None
