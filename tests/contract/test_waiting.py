"""Consumers that wait: what wakes them, who is served first, and those who went away."""

from __future__ import annotations

import contextlib
import json
import socket
import sqlite3
import struct
import time
from collections.abc import Callable

import httpx
import pytest

from tests.contract.calls import Delivery, claim, consume, produce, receive, settle
from tests.contract.wire import Wire
from tests.live import LiveServer

Connect = Callable[[], Wire]


@pytest.fixture
def wait(api: httpx.Client, messages: str, connect: Connect) -> Callable[[], Wire]:
    """Has one more consumer wait for a message."""

    def another() -> Wire:
        wire = connect()
        wire.ask("GET", f"{messages}?waitMs=20000")
        # The server reads in order of arrival, so this answer comes after it began to wait.
        assert consume(api, messages) is None
        return wire

    return another


def test_a_message_produced_wakes_a_consumer(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    consumer = wait()
    message_id = produce(api, messages)
    produced = time.monotonic()
    assert consumer.answer().json()["id"] == message_id
    assert time.monotonic() - produced < 2


def test_a_batch_wakes_as_many_as_it_has_messages(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    consumers = [wait() for _ in range(3)]
    batch = {"messages": [{"content": str(number)} for number in range(3)]}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    assert [consumer.answer().json()["id"] for consumer in consumers] == ids


def test_a_message_that_becomes_due_wakes_a_consumer(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    consumer = wait()
    due_ms = time.time_ns() // 1_000_000 + 300
    message_id = produce(api, messages, processAfter=due_ms)
    assert consumer.answer().json()["id"] == message_id
    assert 0 <= time.time_ns() // 1_000_000 - due_ms < 2000


@pytest.mark.parametrize("delay_ms", [0, 300])
def test_a_nack_wakes_a_consumer(
    api: httpx.Client, messages: str, held: Delivery, wait: Callable[[], Wire], delay_ms: int
) -> None:
    consumer = wait()
    nacked = time.monotonic()
    settle(api, messages, "nack", held.id, held.receipt, delayMs=delay_ms)
    assert consumer.answer().json()["id"] == held.id
    assert delay_ms <= (time.monotonic() - nacked) * 1000 + 5 < delay_ms + 2000


def test_the_end_of_a_lease_wakes_a_consumer(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    message_id = produce(api, messages)
    claimed = time.monotonic()
    claim(api, messages, visibilityMs=1000)
    consumer = wait()
    assert consumer.answer().json()["id"] == message_id
    assert 0.95 <= time.monotonic() - claimed < 3


def test_a_lease_made_shorter_wakes_a_consumer_sooner(
    api: httpx.Client, messages: str, held: Delivery, wait: Callable[[], Wire]
) -> None:
    consumer = wait()
    extended = time.monotonic()
    settle(api, messages, "extend", held.id, held.receipt, visibilityMs=1000)
    assert consumer.answer().json()["id"] == held.id
    assert 0.95 <= time.monotonic() - extended < 3


def test_a_change_by_another_process_wakes_a_consumer(
    api: httpx.Client,
    server: LiveServer,
    messages: str,
    other_messages: str,
    wait: Callable[[], Wire],
) -> None:
    produce(api, other_messages, "moved")
    held = receive(api, other_messages)
    consumer = wait()
    produce(api, messages, "so that the queue is known", processAfter=_in_an_hour())
    with contextlib.closing(sqlite3.connect(server.database, timeout=10)) as db, db:
        moved = db.execute(
            "UPDATE messages SET status = 0, queue_id = (SELECT id FROM queues WHERE name = ?)"
            " WHERE content = 'moved' AND status = 1",
            [messages.split("/")[-2]],
        )
        assert moved.rowcount == 1
    assert consumer.answer().json()["id"] == held.id


def test_a_message_of_another_queue_wakes_nobody(
    api: httpx.Client, messages: str, other_messages: str, connect: Connect
) -> None:
    consumer = connect()
    consumer.ask("GET", f"{messages}?waitMs=300")
    assert consume(api, messages) is None
    message_id = produce(api, other_messages)
    assert consumer.answer().status == 204
    assert receive(api, other_messages).id == message_id


def test_consumers_are_served_in_the_order_they_came(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    consumers = [wait() for _ in range(5)]
    for consumer in consumers:
        message_id = produce(api, messages)
        assert consumer.answer().json()["id"] == message_id


def test_claims_and_consumes_wait_in_one_line(
    api: httpx.Client, messages: str, connect: Connect, wait: Callable[[], Wire]
) -> None:
    first = wait()
    second = connect()
    second.ask("POST", f"{messages}/claim", body=b'{"max":2,"waitMs":20000,"visibilityMs":1000}')
    third = wait()
    batch = {"messages": [{"content": content} for content in "abcd"]}
    assert api.post(f"{messages}/batch", json=batch).status_code == 200
    assert first.answer().json()["content"] == "a"
    assert [each["content"] for each in second.answer().json()["messages"]] == ["b", "c"]
    assert third.answer().json()["content"] == "d"


def test_one_who_waits_no_longer_is_passed_over(
    api: httpx.Client, messages: str, connect: Connect, wait: Callable[[], Wire]
) -> None:
    impatient = connect()
    impatient.ask("GET", f"{messages}?waitMs=100")
    patient = wait()
    assert impatient.answer().status == 204
    message_id = produce(api, messages)
    assert patient.answer().json()["id"] == message_id


def test_a_connection_can_wait_again_and_again(
    api: httpx.Client, messages: str, wire: Wire
) -> None:
    for number in range(5):
        wire.ask("GET", f"{messages}?waitMs=20000")
        assert consume(api, messages) is None
        produce(api, messages, str(number))
        assert wire.answer().json()["content"] == str(number)


def _reset(wire: Wire) -> None:
    """Go away without a good-bye: the peer gets a reset."""
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


@pytest.mark.parametrize("leave", [Wire.close, _reset], ids=["close", "reset"])
@pytest.mark.parametrize("verb", ["consume", "claim"])
def test_a_client_that_went_away_gets_no_message(
    api: httpx.Client,
    messages: str,
    connect: Connect,
    leave: Callable[[Wire], None],
    verb: str,
) -> None:
    """The produce follows at once: the server hears of both in the same moment."""
    for _ in range(20):
        gone = connect()
        if verb == "consume":
            gone.ask("GET", f"{messages}?waitMs=20000")
        else:
            gone.ask("POST", f"{messages}/claim", body=b'{"max":10,"waitMs":20000}')
        assert consume(api, messages) is None
        leave(gone)
        message_id = produce(api, messages)
        (message,) = claim(api, messages, wait_ms=2_000)
        assert (message["id"], message["attempts"]) == (message_id, 1)
        settle(api, messages, "ack", message["id"], message["receipt"])


def test_a_client_that_went_away_is_passed_over(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    gone, next_in_line = wait(), wait()
    gone.close()
    message_id = produce(api, messages)
    assert next_in_line.answer().json()["id"] == message_id
    assert consume(api, messages) is None


def test_a_client_that_stopped_sending_counts_as_gone(
    api: httpx.Client, messages: str, wait: Callable[[], Wire]
) -> None:
    half_closed = wait()
    half_closed.finish_sending()
    message_id = produce(api, messages)
    assert receive(api, messages, wait_ms=2_000).id == message_id
    assert b"content" not in half_closed.rest()


def test_a_client_that_goes_in_the_middle_of_its_body_leaves_nothing_behind(
    api: httpx.Client, messages: str, connect: Connect
) -> None:
    for verb, body in {"": b'{"content":"a"}', "/claim": b'{"waitMs":20000}'}.items():
        wire = connect()
        wire.ask("POST", messages + verb, f"Content-Length: {len(body) + 1}")
        wire.send(body)
        wire.close()
    assert consume(api, messages) is None
    message_id = produce(api, messages)
    assert receive(api, messages).id == message_id


@pytest.mark.parametrize("leave", [Wire.close, _reset], ids=["close", "reset"])
def test_a_client_that_goes_in_the_middle_of_its_answer_keeps_nothing(
    api: httpx.Client, messages: str, connect: Connect, leave: Callable[[Wire], None]
) -> None:
    """Far more than fits between server and client: most of it was never on its way."""
    batch = {"messages": [{"content": "a" * 262_144}] * 60}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    gone = connect()
    gone.ask("POST", f"{messages}/claim", body=b'{"max":60,"waitMs":0}')
    assert gone.read(4) == b"HTTP"
    assert consume(api, messages) is None
    leave(gone)
    first, *_ = claim(api, messages, max=60, wait_ms=5_000)
    assert (first["id"], first["attempts"]) == (ids[0], 1)


def test_a_hundred_wait_and_each_gets_its_own(
    api: httpx.Client, messages: str, connect: Connect
) -> None:
    consumers = [connect() for _ in range(100)]
    for consumer in consumers:
        consumer.ask("GET", f"{messages}?waitMs=20000")
    assert consume(api, messages) is None
    batch = {"messages": [{"content": str(number)} for number in range(100)]}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    received = [json.loads(consumer.answer().body)["id"] for consumer in consumers]
    assert sorted(received) == ids


def _in_an_hour() -> int:
    return time.time_ns() // 1_000_000 + 3_600_000
