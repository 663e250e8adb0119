"""POST /api/v1/queues/{queue}/messages/batch, as JSON and as NDJSON"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_refused
from tests.contract.calls import claim, consume, produce, receive, settle

MAX_BODY = 64 * 1024 * 1024
MAX_CONTENT = 262_144

Message = dict[str, object]
Post = Callable[[Sequence[object]], httpx.Response]


def as_json(items: Sequence[object]) -> bytes:
    return json.dumps({"messages": items}, ensure_ascii=False).encode()


def as_ndjson(items: Sequence[object]) -> bytes:
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in items)


@pytest.fixture(params=["json", "ndjson"])
def post(request: pytest.FixtureRequest, api: httpx.Client, messages: str) -> Post:
    """Sends a batch in one of its two forms."""
    form, media_type = {
        "json": (as_json, "application/json"),
        "ndjson": (as_ndjson, "application/x-ndjson"),
    }[request.param]

    def send(items: Sequence[object]) -> httpx.Response:
        headers = {"Content-Type": media_type}
        return api.post(f"{messages}/batch", content=form(items), headers=headers)

    return send


def ids_of(response: httpx.Response) -> list[str]:
    """The ids; the answer must hold nothing else."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    assert set(response.json()) == {"ids"}
    ids: list[str] = response.json()["ids"]
    return ids


def test_answers_the_ids_in_order(api: httpx.Client, messages: str, post: Post) -> None:
    contents = ["a", "", "é😀\u2028\n\x00", '"\\']
    ids = ids_of(post([{"content": content} for content in contents]))
    assert [uuid.UUID(each).version for each in ids] == [7, 7, 7, 7]
    assert ids == sorted(set(ids))
    claimed = claim(api, messages, max=10)
    assert [(each["id"], each["content"]) for each in claimed] == list(
        zip(ids, contents, strict=True)
    )


def test_every_field_holds_for_each_message(api: httpx.Client, messages: str, post: Post) -> None:
    later = time.time_ns() // 1_000_000 + 3_600_000
    low, _, high, _, key = ids_of(
        post(
            [
                {"content": "low", "priority": -100},
                {"content": "later", "priority": 100, "processAfter": later},
                {"content": "high", "priority": 100, "processAfter": None},
                {"content": "later too", "processAfter": later},
                {"content": "key", "dedupKey": "k", "priority": None},
            ]
        )
    )
    assert [each["id"] for each in claim(api, messages, max=10)] == [high, key, low]
    assert produce(api, messages, dedupKey="k") == key


@pytest.mark.parametrize("count", [1, 1000])
def test_one_to_a_thousand_messages(
    api: httpx.Client, messages: str, post: Post, count: int
) -> None:
    ids = ids_of(post([{"content": str(number)} for number in range(count)]))
    claimed = claim(api, messages, max=1000)
    assert [each["id"] for each in claimed] == ids
    assert [each["content"] for each in claimed] == [str(number) for number in range(count)]


@pytest.mark.parametrize("count", [0, 1001])
def test_other_counts_are_refused(api: httpx.Client, messages: str, post: Post, count: int) -> None:
    assert_invalid_body(post([{"content": "a"}] * count))
    assert consume(api, messages) is None


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"content": "a", "unknown": 1}, "bad_request.body.invalid"),
        ({"content": "a", "priority": 101}, "bad_request.body.invalid"),
        ({"content": "a", "dedupKey": "k" * 129}, "bad_request.body.invalid"),
        ({"content": None}, "bad_request.body.invalid"),
        ({}, "bad_request.body.invalid"),
        ("a", "bad_request.body.invalid"),
        (None, "bad_request.body.invalid"),
        ({"content": "a" * (MAX_CONTENT + 1)}, "bad_request.body.content.exceeds_limit"),
        ({"content": "a", "processAfter": 1}, "bad_request.body.processAfter.in_past"),
        ({"content": "a", "processAfter": 2**60}, "bad_request.body.processAfter.too_far"),
    ],
)
def test_one_invalid_message_and_nothing_is_stored(
    api: httpx.Client, messages: str, post: Post, bad: object, code: str, place: int
) -> None:
    items: list[object] = [{"content": "a"}, {"content": "b", "dedupKey": "k"}]
    items.insert(place, bad)
    assert_refused(post(items), 400, code)
    assert consume(api, messages) is None
    produce(api, messages, "the key is free", dedupKey="k")
    assert receive(api, messages).content == "the key is free"


def test_a_duplicate_gets_the_first_ones_id(api: httpx.Client, messages: str, post: Post) -> None:
    stored = produce(api, messages, dedupKey="stored")
    response = post(
        [
            {"content": "1", "dedupKey": "stored"},
            {"content": "2", "dedupKey": "new"},
            {"content": "3", "dedupKey": "new"},
            {"content": "4"},
        ]
    )
    first, second, third, fourth = ids_of(response)
    assert first == stored
    assert second == third
    assert [each["id"] for each in claim(api, messages, max=10)] == [stored, second, fourth]


def test_a_duplicate_of_a_message_that_left(api: httpx.Client, messages: str, post: Post) -> None:
    (first,) = ids_of(post([{"content": "1", "dedupKey": "k"}]))
    held = receive(api, messages)
    assert settle(api, messages, "ack", held.id, held.receipt).status_code == 204
    assert ids_of(post([{"content": "2", "dedupKey": "k"}])) == [first]


def test_content_at_its_limit_many_times(api: httpx.Client, messages: str, post: Post) -> None:
    content = "é" * (MAX_CONTENT // 2)
    assert len(ids_of(post([{"content": content}] * 20))) == 20
    assert {each["content"] for each in claim(api, messages, max=20)} == {content}


def test_the_whole_body_may_be_64_mebibytes(api: httpx.Client, messages: str) -> None:
    body = as_json([{"content": "padded"}])
    too_large = api.post(f"{messages}/batch", content=body.ljust(MAX_BODY + 1))
    assert_refused(too_large, 413, "bad_request.body.content.exceeds_limit")
    ids = ids_of(api.post(f"{messages}/batch", content=body.ljust(MAX_BODY)))
    assert [each["id"] for each in claim(api, messages, max=10)] == ids


def ndjson(api: httpx.Client, messages: str, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/x-ndjson"}
    return api.post(f"{messages}/batch", content=body, headers=headers)


@pytest.mark.parametrize(
    "body",
    [
        b'{"content":"a"}\n{"content":"b"}',
        b'{"content":"a"}\n{"content":"b"}\n',
        b'{"content":"a"}\r\n{"content":"b"}\r\n',
        b' {"content" : "a"} \n\t{"content":"b"}\n',
    ],
)
def test_lines_may_end_in_all_usual_ways(api: httpx.Client, messages: str, body: bytes) -> None:
    assert len(ids_of(ndjson(api, messages, body))) == 2
    assert [each["content"] for each in claim(api, messages, max=10)] == ["a", "b"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b'{"content":"a"}\n\n{"content":"b"}\n', id="an empty line between"),
        pytest.param(b'{"content":"a"}\n\n', id="an empty line at the end"),
        pytest.param(b'{"content":"a"}{"content":"b"}\n', id="two on a line"),
        pytest.param(b'{"content":\n"a"}\n', id="one on two lines"),
        pytest.param(b'{"content":"a"}\r{"content":"b"}\r', id="CR alone"),
        pytest.param(b'[{"content":"a"}]\n', id="a list"),
        pytest.param(b'{"messages":[{"content":"a"}]}\n', id="the other form"),
        pytest.param(b'{"content":"a"}\n{"content":"\xff"}\n', id="not UTF-8"),
        pytest.param(b'{"content":"a"}\n{"content":"b","content":"c"}\n', id="a name twice"),
    ],
)
def test_what_is_not_one_message_a_line(api: httpx.Client, messages: str, body: bytes) -> None:
    assert_invalid_body(ndjson(api, messages, body))
    assert consume(api, messages) is None


def test_a_body_of_nothing_but_line_breaks_is_refused_quickly(
    api: httpx.Client, messages: str
) -> None:
    started = time.monotonic()
    assert_invalid_body(ndjson(api, messages, b"\n" * (MAX_BODY // 4)))
    assert time.monotonic() - started < 2


def test_the_media_type_of_ndjson_may_have_parameters_and_capitals(
    api: httpx.Client, messages: str
) -> None:
    headers = {"Content-Type": "Application/X-NDJSON; charset=utf-8"}
    response = api.post(f"{messages}/batch", content=b'{"content":"a"}\n', headers=headers)
    assert len(ids_of(response)) == 1


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", "application/ndjson"])
def test_any_other_media_type_is_json(api: httpx.Client, messages: str, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    path = f"{messages}/batch"
    assert_invalid_body(api.post(path, content=b'{"content":"a"}\n', headers=headers))
    body = b'{"messages":[{"content":"a"}]}'
    assert len(ids_of(api.post(path, content=body, headers=headers))) == 1
