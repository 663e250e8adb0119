"""POST /api/v1/queues/{queue}/messages/claim"""

from __future__ import annotations

import time
import uuid

import httpx
import pytest

from tests.contract.answers import assert_invalid_body
from tests.contract.calls import Delivery, claim, consume, produce, receive, renew, settle


def test_answers_exactly_the_fields_named(api: httpx.Client, messages: str) -> None:
    message_id = produce(api, messages, "hello", priority=-7)
    response = api.post(f"{messages}/claim", json={"waitMs": 0})
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert list(response.json()) == ["messages"]
    (message,) = response.json()["messages"]
    assert list(message) == ["id", "content", "receipt", "attempts", "priority", "receivedAt"]
    assert isinstance(message["receipt"], str)
    assert message | {"receipt": ""} == {
        "id": message_id,
        "content": "hello",
        "receipt": "",
        "attempts": 1,
        "priority": -7,
        "receivedAt": uuid.UUID(message_id).int >> 80,
    }


def test_answers_an_empty_list_when_none_came_in_time(api: httpx.Client, messages: str) -> None:
    started = time.monotonic()
    response = api.post(f"{messages}/claim", json={"max": 10, "waitMs": 300})
    assert (response.status_code, response.json()) == (200, {"messages": []})
    assert 0.3 <= time.monotonic() - started < 2


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b' {"max":null,"waitMs":null,"visibilityMs":null} ',
        b'{"max":1}',
        b'{"waitMs":30000}',
        b'{"visibilityMs":1000}',
        b'{"visibilityMs":43200000}',
        b'{"max":1,"waitMs":0,"visibilityMs":300000}',
    ],
)
def test_every_wish_is_optional_and_one_message_the_default(
    api: httpx.Client, messages: str, body: bytes
) -> None:
    first, _ = produce(api, messages), produce(api, messages)
    response = api.post(f"{messages}/claim", content=body)
    assert [each["id"] for each in response.json()["messages"]] == [first]


@pytest.mark.parametrize(
    "wish",
    [
        {"max": 0},
        {"max": 1001},
        {"max": -1},
        {"max": 1.0},
        {"max": "1"},
        {"max": True},
        {"max": 2**64},
        {"waitMs": -1},
        {"waitMs": 30_001},
        {"waitMs": "0"},
        {"waitMs": 0.5},
        {"visibilityMs": 999},
        {"visibilityMs": 43_200_001},
        {"visibilityMs": 0},
        {"visibilityMs": False},
        {"limit": 1},
        {"MAX": 1},
    ],
)
def test_other_wishes_are_refused(
    api: httpx.Client, messages: str, wish: dict[str, object]
) -> None:
    message_id = produce(api, messages)
    assert_invalid_body(api.post(f"{messages}/claim", json=wish))
    assert receive(api, messages).id == message_id


def test_up_to_a_thousand_in_order_of_delivery(api: httpx.Client, messages: str) -> None:
    batch = [{"content": str(number), "priority": number % 3} for number in range(1002)]
    for half in (batch[:600], batch[600:]):
        assert api.post(f"{messages}/batch", json={"messages": half}).status_code == 200
    expected = [
        str(number) for number in sorted(range(1002), key=lambda number: (-(number % 3), number))
    ]
    first = claim(api, messages, max=1000)
    assert [each["content"] for each in first] == expected[:1000]
    assert [each["content"] for each in claim(api, messages, max=1000)] == expected[1000:]
    assert claim(api, messages, max=1000) == []


def test_takes_what_is_there_without_waiting_for_more(api: httpx.Client, messages: str) -> None:
    produce(api, messages)
    started = time.monotonic()
    assert len(claim(api, messages, max=2, wait_ms=20_000)) == 1
    assert time.monotonic() - started < 5


def test_attempts_count_deliveries_and_received_at_stays(api: httpx.Client, messages: str) -> None:
    produce(api, messages)
    seen = []
    for _ in range(5):
        (message,) = claim(api, messages)
        seen.append((message["attempts"], message["receivedAt"]))
        settle(api, messages, "nack", message["id"], message["receipt"], delayMs=0)
    assert [attempts for attempts, _ in seen] == [1, 2, 3, 4, 5]
    assert len({received_at for _, received_at in seen}) == 1
    assert claim(api, messages) == []


def test_the_lease_is_as_long_as_the_claim_says(api: httpx.Client, messages: str) -> None:
    produce(api, messages, "short")
    started = time.monotonic()
    claim(api, messages, visibilityMs=1000)
    produce(api, messages, "long")
    claim(api, messages, visibilityMs=60_000)
    (again,) = claim(api, messages, max=2, wait_ms=10_000)
    assert 0.95 <= time.monotonic() - started < 3
    assert (again["content"], again["attempts"]) == ("short", 2)


def test_consume_and_claim_are_of_one_kind(
    api: httpx.Client, messages: str, held: Delivery
) -> None:
    again = renew(api, messages, held)
    settle(api, messages, "nack", again.id, again.receipt, delayMs=0)
    (message,) = claim(api, messages)
    assert (message["id"], message["attempts"]) == (held.id, 3)
    assert consume(api, messages) is None
