"""POST /api/v1/queues/{queue}/messages"""

from __future__ import annotations

import time
import uuid

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_no_content, assert_refused
from tests.contract.calls import claim, consume, produce, receive, settle

MAX_CONTENT = 262_144
MAX_BODY = 2 * 1024 * 1024
DAY_MS = 24 * 3_600_000


def test_answers_nothing_but_the_id_in_a_header(api: httpx.Client, messages: str) -> None:
    before_ms = time.time_ns() // 1_000_000
    response = api.post(messages, json={"content": "hello"})
    after_ms = time.time_ns() // 1_000_000
    assert_no_content(response)
    assert "x-forq-duplicate" not in response.headers
    message_id = uuid.UUID(response.headers["x-forq-message-id"])
    assert str(message_id) == response.headers["x-forq-message-id"]
    assert (message_id.version, message_id.variant) == (7, uuid.RFC_4122)
    assert before_ms <= message_id.int >> 80 <= after_ms
    assert receive(api, messages)[:2] == (str(message_id), "hello")


def test_ids_grow_in_the_order_of_arrival(api: httpx.Client, messages: str) -> None:
    ids = [produce(api, messages) for _ in range(20)]
    assert ids == sorted(set(ids))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="empty"),
        pytest.param("a\x00b\x00", id="NUL"),
        pytest.param("".join(map(chr, range(32))) + "\x7f\x80\x9f", id="control characters"),
        pytest.param("\u2028\u2029\x85\v\f\r\n\r", id="line separators"),
        pytest.param("e\u0301 \u00e9 \u1100\u1161 \uac00", id="combining, not normalized"),
        pytest.param("😀👩‍👩‍👧‍👦🏳️‍🌈\U0010ffff\U00010000", id="astral"),
        pytest.param("\ufeff\ufffe\uffff\ufffd\ue000", id="BOM, noncharacters, private use"),
        pytest.param("\u202eabc\u202c שלום مرحبا", id="right to left"),
        pytest.param('"\\/\b\f\n\r\t\\u0041', id="what JSON escapes"),
        pytest.param('{"content": "in a content"}', id="JSON"),
        pytest.param("</script><!-- <b> & ' -->", id="HTML"),
        pytest.param("%00%ff+ ", id="percent"),
        pytest.param(" \t  leading and trailing \n ", id="white space"),
        pytest.param("'; DROP TABLE messages; --", id="SQL"),
    ],
)
def test_any_unicode_comes_back_byte_for_byte(
    api: httpx.Client, messages: str, content: str
) -> None:
    produce(api, messages, content)
    assert receive(api, messages).content.encode() == content.encode()


@pytest.mark.parametrize(
    ("escaped", "content"),
    [
        (rb"\u0000", "\x00"),
        (rb"\ud83d\ude00", "😀"),
        (rb"\u00E9\u00e9", "éé"),
        (rb"\/\b\f\n\r\t\"\\", '/\b\f\n\r\t"\\'),
        (rb"\\\\\"\\\"\\u0041", '\\\\"\\"\\u0041'),
    ],
)
def test_escapes_mean_their_characters(
    api: httpx.Client, messages: str, escaped: bytes, content: str
) -> None:
    response = api.post(messages, content=b'{"content":"%b"}' % escaped)
    assert_no_content(response)
    assert receive(api, messages).content == content


@pytest.mark.parametrize("character", ["a", "é", "€", "😀", "\x00"])
def test_content_is_measured_in_utf8_bytes(
    api: httpx.Client, messages: str, character: str
) -> None:
    width = len(character.encode())
    content = character * (MAX_CONTENT // width) + "a" * (MAX_CONTENT % width)
    assert len(content.encode()) == MAX_CONTENT
    response = api.post(messages, json={"content": content + "a"})
    assert_refused(response, 400, "bad_request.body.content.exceeds_limit")
    produce(api, messages, content)
    assert receive(api, messages).content == content
    assert consume(api, messages) is None


def test_the_whole_body_may_be_two_mebibytes(api: httpx.Client, messages: str) -> None:
    body = b'{"content":"padded"}'.ljust(MAX_BODY)
    assert_no_content(api.post(messages, content=body))
    assert receive(api, messages).content == "padded"


def test_a_body_over_two_mebibytes_is_too_large(api: httpx.Client, messages: str) -> None:
    body = b'{"content":"padded"}'.ljust(MAX_BODY + 1)
    response = api.post(messages, content=body)
    assert_refused(response, 413, "bad_request.body.content.exceeds_limit")
    assert consume(api, messages) is None


def test_content_far_over_its_limit_in_a_body_within_its_own(
    api: httpx.Client, messages: str
) -> None:
    response = api.post(messages, json={"content": "a" * (MAX_BODY - 100)})
    assert_refused(response, 400, "bad_request.body.content.exceeds_limit")


def test_process_after_within_the_tolerance_is_now(api: httpx.Client, messages: str) -> None:
    now_ms = time.time_ns() // 1_000_000
    produce(api, messages, "a moment ago", processAfter=now_ms - 9_000)
    produce(api, messages, "zero", processAfter=0)
    produce(api, messages, "null", processAfter=None)
    assert [receive(api, messages).content for _ in range(3)] == ["a moment ago", "zero", "null"]


@pytest.mark.parametrize("ago_ms", [10_001, 3_600_000, None])
def test_process_after_in_the_past(api: httpx.Client, messages: str, ago_ms: int | None) -> None:
    now_ms = time.time_ns() // 1_000_000
    process_after = 1 if ago_ms is None else now_ms - ago_ms
    response = api.post(messages, json={"content": "", "processAfter": process_after})
    assert_refused(response, 400, "bad_request.body.processAfter.in_past")


@pytest.mark.parametrize("process_after", [-1, -(2**63)])
def test_process_after_below_zero_is_in_the_past(
    api: httpx.Client, messages: str, process_after: int
) -> None:
    response = api.post(messages, json={"content": "", "processAfter": process_after})
    assert_refused(response, 400, "bad_request.body.processAfter.in_past")


def test_process_after_at_most_366_days_ahead(api: httpx.Client, messages: str) -> None:
    now_ms = time.time_ns() // 1_000_000
    produce(api, messages, processAfter=now_ms + 366 * DAY_MS)
    late = now_ms + 366 * DAY_MS + 5_000
    response = api.post(messages, json={"content": "", "processAfter": late})
    assert_refused(response, 400, "bad_request.body.processAfter.too_far")


@pytest.mark.parametrize("process_after", [2**53, 2**63 - 1])
def test_process_after_beyond_all_times_is_too_far(
    api: httpx.Client, messages: str, process_after: int
) -> None:
    response = api.post(messages, json={"content": "", "processAfter": process_after})
    assert_refused(response, 400, "bad_request.body.processAfter.too_far")


def test_a_message_is_not_delivered_before_it_is_due(api: httpx.Client, messages: str) -> None:
    due_ms = time.time_ns() // 1_000_000 + 400
    produce(api, messages, "later", processAfter=due_ms, priority=100)
    assert consume(api, messages) is None
    assert receive(api, messages, wait_ms=10_000).content == "later"
    assert time.time_ns() // 1_000_000 >= due_ms


@pytest.mark.parametrize("priority", [-101, 101, 2**63, -(2**70)])
def test_priority_has_bounds(api: httpx.Client, messages: str, priority: int) -> None:
    assert_invalid_body(api.post(messages, json={"content": "", "priority": priority}))


def test_priority_goes_before_arrival(api: httpx.Client, messages: str) -> None:
    for content, priority in [("d", -1), ("c", 0), ("b", 1), ("e", -100), ("a", 100), ("f", -100)]:
        produce(api, messages, content, priority=priority)
    produce(api, messages, "c2")
    produce(api, messages, "c3", priority=None)
    order = [receive(api, messages).content for _ in range(8)]
    assert order == ["a", "b", "c", "c2", "c3", "d", "e", "f"]


def test_a_dedup_key_is_stored_once(api: httpx.Client, messages: str) -> None:
    first = api.post(messages, json={"content": "first", "dedupKey": "k"})
    second = api.post(messages, json={"content": "second", "dedupKey": "k", "priority": 9})
    assert_no_content(first)
    assert_no_content(second)
    assert "x-forq-duplicate" not in first.headers
    assert second.headers["x-forq-duplicate"] == "true"
    assert second.headers["x-forq-message-id"] == first.headers["x-forq-message-id"]
    assert receive(api, messages).content == "first"
    assert consume(api, messages) is None


def test_a_dedup_key_outlives_its_message(api: httpx.Client, messages: str) -> None:
    first = produce(api, messages, dedupKey="k")
    while_ready = produce(api, messages, dedupKey="k")
    held = receive(api, messages)
    while_processing = produce(api, messages, dedupKey="k")
    assert settle(api, messages, "ack", held.id, held.receipt).status_code == 204
    after_ack = produce(api, messages, dedupKey="k")
    assert {while_ready, while_processing, after_ack} == {first}
    assert consume(api, messages) is None


def test_a_dedup_key_outlives_an_ack_without_receipt(api: httpx.Client, messages: str) -> None:
    first = produce(api, messages, dedupKey="k")
    receive(api, messages)
    assert settle(api, messages, "ack", first, None).status_code == 204
    assert produce(api, messages, dedupKey="k") == first


def test_a_dedup_key_holds_for_a_delayed_message(api: httpx.Client, messages: str) -> None:
    later = time.time_ns() // 1_000_000 + 3_600_000
    first = produce(api, messages, dedupKey="k", processAfter=later)
    assert produce(api, messages, dedupKey="k") == first
    assert consume(api, messages) is None


def test_dedup_keys_are_compared_exactly(api: httpx.Client, messages: str) -> None:
    keys = ["k", "K", " k", "k\x00", "k\x00\x00", "é", "e\u0301", "ﬁ", "fi"]
    assert len({produce(api, messages, dedupKey=key) for key in keys}) == len(keys)
    assert len(claim(api, messages, max=1000)) == len(keys)


def test_dedup_keys_of_two_queues_have_nothing_to_do_with_each_other(
    api: httpx.Client, messages: str, other_messages: str
) -> None:
    assert produce(api, messages, dedupKey="k") != produce(api, other_messages, dedupKey="k")


def test_no_dedup_key_is_no_key(api: httpx.Client, messages: str) -> None:
    assert produce(api, messages, dedupKey=None) != produce(api, messages, dedupKey=None)


@pytest.mark.parametrize("character", ["k", "é", "😀"])
def test_a_dedup_key_has_up_to_128_characters(
    api: httpx.Client, messages: str, character: str
) -> None:
    too_long = api.post(messages, json={"content": "", "dedupKey": character * 129})
    assert_invalid_body(too_long)
    first = produce(api, messages, dedupKey=character * 128)
    assert produce(api, messages, dedupKey=character * 128) == first


def test_an_empty_dedup_key_is_refused(api: httpx.Client, messages: str) -> None:
    assert_invalid_body(api.post(messages, json={"content": "", "dedupKey": ""}))


def test_the_media_type_does_not_matter(api: httpx.Client, messages: str) -> None:
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "application/x-ndjson"):
        response = api.post(
            messages, content=b'{"content":"a"}', headers={"Content-Type": media_type}
        )
        assert_no_content(response)


def test_queues_are_isolated(api: httpx.Client, messages: str, other_messages: str) -> None:
    produce(api, messages, "here")
    assert consume(api, other_messages) is None
    assert receive(api, messages).content == "here"
