"""Which names a queue can have, and what a dead-letter queue is."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import uuid

import httpx
import pytest

from tests.contract.answers import assert_no_content, assert_refused
from tests.contract.calls import claim, consume, produce, receive, settle
from tests.live import LiveServer


def messages_of(queue: str) -> str:
    return f"/api/v1/queues/{queue}/messages"


def unique(length: int) -> str:
    return uuid.uuid4().hex.ljust(length, "x")[:length]


@pytest.mark.parametrize("name", ["a", "Z", "0", ".a", "_", "-", "a.b_c-d", "A-dl", "dlq"])
def test_names_of_letters_digits_dots_underscores_and_hyphens(api: httpx.Client, name: str) -> None:
    message_id = produce(api, messages_of(name))
    held = receive(api, messages_of(name))
    assert held.id == message_id
    assert_no_content(settle(api, messages_of(name), "ack", held.id, held.receipt))


def test_64_characters_are_enough(api: httpx.Client) -> None:
    name = unique(64)
    message_id = produce(api, messages_of(name))
    assert receive(api, messages_of(name)).id == message_id


def test_names_differ_by_case(api: httpx.Client) -> None:
    name = f"q-{uuid.uuid4().hex}a"
    produce(api, messages_of(name))
    assert consume(api, messages_of(name.upper())) is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 65,
        "x" * 68,
        "x" * 1000,
        "x" * 65 + "-dlq",
        "%20",
        "a%20b",
        "a+b",
        "a:b",
        "a,b",
        "a@b",
        "a~b",
        "a%0A",
        "%00",
        "a%25",
        "%C3%A9",
        "%D9%A1",
        "%F0%9F%98%80",
        "%FF",
        "a\\b",
        "*",
        "%3Cscript%3E",
        "a;b",
        "a'b",
    ],
)
def test_other_names_are_refused_by_every_call(api: httpx.Client, name: str) -> None:
    messages = messages_of(name)
    message_id = str(uuid.uuid4())
    receipt = "4000000000000000"
    item = {"id": message_id, "receipt": receipt}
    bodies: dict[str, object] = {
        "": {"content": "a"},
        "/batch": {"messages": [{"content": "a"}]},
        "/claim": {"waitMs": 0},
        "/ack": {"messages": [item]},
        "/nack": {"messages": [item]},
        "/extend": {"messages": [item | {"visibilityMs": 1000}]},
        f"/{message_id}/ack": {},
        f"/{message_id}/nack": {},
        f"/{message_id}/extend": {"visibilityMs": 1000},
    }
    for call, body in bodies.items():
        response = api.post(messages + call, json=body, headers={"X-Forq-Receipt": receipt})
        assert_refused(response, 400, "bad_request.queue.invalid_name")
    response = api.get(messages, params={"waitMs": 0})
    assert_refused(response, 400, "bad_request.queue.invalid_name")


@pytest.mark.parametrize("name", ["a%2Fb", "a/b", "%2F"])
def test_a_slash_ends_a_name(api: httpx.Client, name: str) -> None:
    response = api.get(messages_of(name), params={"waitMs": 0})
    assert_refused(response, 404, "not_found.path")


def test_a_percent_encoded_name_is_the_same_name(api: httpx.Client, queue: str) -> None:
    message_id = produce(api, messages_of(queue))
    encoded = "".join(f"%{ord(character):02X}" for character in queue)
    assert receive(api, messages_of(encoded)).id == message_id


@pytest.mark.parametrize("name", ["orders-dlq", "-dlq", "x" * 64 + "-dlq", "a-dlq-dlq"])
def test_nothing_is_produced_to_a_dead_letter_queue(api: httpx.Client, name: str) -> None:
    messages = messages_of(name)
    for call, body in {"": {"content": "a"}, "/batch": {"messages": [{"content": "a"}]}}.items():
        response = api.post(messages + call, json=body)
        assert_refused(response, 400, "bad_request.queue.produce_to_dlq")
    assert consume(api, messages) is None


@pytest.mark.parametrize("name", ["x" * 64 + "-DLQ", "x" * 65 + "-dlq"])
def test_68_characters_are_for_dead_letter_queues_alone(api: httpx.Client, name: str) -> None:
    response = api.get(messages_of(name), params={"waitMs": 0})
    assert_refused(response, 400, "bad_request.queue.invalid_name")


def test_a_dead_letter_queue_is_consumed_like_any(api: httpx.Client, server: LiveServer) -> None:
    queue = unique(64)
    produce(api, messages_of(queue), "buried")
    produce(api, messages_of(queue), "buried too")
    # What buries messages is not there yet: its effect has to be made by hand.
    with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as db, db:
        db.execute("INSERT INTO queues (name, created_at) VALUES (?, 0)", [f"{queue}-dlq"])
        db.execute(
            "UPDATE messages SET queue_id = (SELECT id FROM queues WHERE name = ?)"
            " WHERE queue_id = (SELECT id FROM queues WHERE name = ?)",
            [f"{queue}-dlq", queue],
        )
    assert consume(api, messages_of(queue)) is None
    dlq = messages_of(f"{queue}-dlq")
    held = receive(api, dlq, wait_ms=1_000)
    assert held.content == "buried"
    assert_no_content(settle(api, dlq, "extend", held.id, held.receipt, visibilityMs=60_000))
    assert_no_content(settle(api, dlq, "nack", held.id, held.receipt, delayMs=0))
    (first, second) = claim(api, dlq, max=10)
    assert (first["content"], first["attempts"]) == ("buried", 2)
    items = [{"id": each["id"], "receipt": each["receipt"]} for each in (first, second)]
    response = api.post(f"{dlq}/ack", content=json.dumps({"messages": items}))
    assert response.json() == {"done": [first["id"], second["id"]], "missed": []}
