"""Bodies that are not exactly what the contract says, for every call that reads one."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.answers import assert_invalid_body, assert_no_content
from tests.contract.calls import Delivery, consume, receive, settle

BROKEN = {
    "nothing": b" ",
    "half an object": b"{",
    "a list": b"[]",
    "a text": b'"content"',
    "a number": b"1",
    "null": b"null",
    "true": b"true",
    "not JSON": b"content=a",
    "NUL": b"\x00",
    "BOM": b"\xef\xbb\xbf%b",
    "UTF-16": b"\xff\xfe{\x00}\x00",
    "trailing garbage": b"%b x",
    "trailing NUL": b"%b\x00",
    "two values": b"%b%b",
    "trailing comma": b"%b,",
    "comment": b"%b // comment",
    "deep lists": b"[" * 100_000,
    "deep lists, closed": b"[" * 50_000 + b"]" * 50_000,
    "deep objects": b'{"content":' * 100_000,
    "unknown name": b'{"unknown":1}',
    "unknown deep name": b'{"unknown":' + b"[" * 100_000,
    "NaN": b'{"content":NaN}',
    "infinity": b'{"content":-Infinity}',
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("call", ["", "/batch", "/claim", "/ack", "/nack", "/extend"])
def test_a_broken_body(api: httpx.Client, messages: str, call: str, name: str) -> None:
    valid = {
        "": b'{"content":"a"}',
        "/batch": b'{"messages":[{"content":"a"}]}',
        "/claim": b'{"waitMs":0}',
    }.get(call, b'{"messages":[]}')
    body = BROKEN[name].replace(b"%b", valid)
    assert_invalid_body(api.post(messages + call, content=body))
    assert consume(api, messages) is None


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("verb", ["nack", "extend"])
def test_a_broken_body_for_one_message(
    api: httpx.Client, messages: str, held: Delivery, verb: str, name: str
) -> None:
    body = BROKEN[name].replace(b"%b", b'{"delayMs":0}' if verb == "nack" else b"{}")
    headers = {"X-Forq-Receipt": held.receipt}
    assert_invalid_body(api.post(f"{messages}/{held.id}/{verb}", content=body, headers=headers))
    assert_no_content(settle(api, messages, "ack", held.id, held.receipt))


@pytest.mark.parametrize(
    "body",
    [
        b'{"content":"a","content":"b"}',
        b'{"content":"a","content":"a"}',
        rb'{"content":"a","\u0063ontent":"b"}',
        rb'{"\u0063\u006f\u006etent":"a","c\u006Fntent":"b"}',
        b'{"content":"a","priority":1,"priority":1}',
        b'{"priority":null,"content":"a","priority":1}',
        b'{"content":"a","priority":1,"priority":null}',
        rb'{"content":"\"","content":"\\"}',
        rb'{"content":"\\\"","dedupKey":"k","dedupKey":"\\"}',
        rb'{"dedupKey":"\"\"\"\"\"\"","content":"","content":""}',
    ],
)
def test_a_name_that_stands_twice(api: httpx.Client, messages: str, body: bytes) -> None:
    assert_invalid_body(api.post(messages, content=body))
    in_a_batch = b'{"messages":[{"content":"a"},%b]}' % body
    assert_invalid_body(api.post(f"{messages}/batch", content=in_a_batch))
    assert consume(api, messages) is None


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("/batch", b'{"messages":[{"content":"a"}],"messages":[{"content":"b"}]}'),
        ("/batch", rb'{"messages":[{"content":"a"}],"message\u0073":[{"content":"b"}]}'),
        ("/claim", b'{"waitMs":0,"waitMs":0}'),
        ("/claim", rb'{"max":1,"\u006dax":2,"waitMs":0}'),
        ("/nack", b'{"messages":[{"id":"a","id":"b","receipt":"c"}]}'),
    ],
)
def test_a_name_that_stands_twice_elsewhere(
    api: httpx.Client, messages: str, call: str, body: bytes
) -> None:
    assert_invalid_body(api.post(messages + call, content=body))
    assert consume(api, messages) is None


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (rb'{"content":"\"content\":\"content\""}', '"content":"content"'),
        (rb'{"content":"\\","dedupKey":"\\\""}', "\\"),
        (rb'{"content":"\\\\\",\"content\":\"\\"}', '\\\\","content":"\\'),
        (rb'{"\u0063ontent":"a"}', "a"),
        (b'\t{\r\n"content" : "a" , "priority" : 1 }\n ', "a"),
        (b'{"priority":-0,"content":"a"}', "a"),
    ],
)
def test_what_only_looks_wrong(api: httpx.Client, messages: str, body: bytes, content: str) -> None:
    assert_no_content(api.post(messages, content=body))
    assert receive(api, messages).content == content


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(rb"\ud800", id="a high surrogate alone"),
        pytest.param(rb"\udc00", id="a low surrogate alone"),
        pytest.param(rb"\ud800a", id="a high surrogate before a letter"),
        pytest.param(rb"\ud800\u0041", id="a high surrogate before an escaped letter"),
        pytest.param(rb"\ude00\ud83d", id="surrogates in the wrong order"),
        pytest.param(rb"\ud800\ud800", id="two high surrogates"),
        pytest.param(b"\xed\xa0\x80", id="a raw high surrogate"),
        pytest.param(b"\xed\xbf\xbf", id="a raw low surrogate"),
        pytest.param(b"\xed\xa0\xbd\xed\xb8\x80", id="a raw pair of surrogates"),
        pytest.param(b"\xff", id="a byte that UTF-8 never has"),
        pytest.param(b"\xc3", id="half a character"),
        pytest.param(b"\xe2\x82", id="two thirds of a character"),
        pytest.param(b"\x80", id="a continuation alone"),
        pytest.param(b"\xc0\x80", id="NUL in two bytes"),
        pytest.param(b"\xe0\x80\xaf", id="a slash in three bytes"),
        pytest.param(b"\xf4\x90\x80\x80", id="beyond Unicode"),
        pytest.param(b"\x00", id="raw NUL"),
        pytest.param(b"\n", id="raw line break"),
        pytest.param(b"\x1f", id="raw control character"),
        pytest.param(rb"\x41", id="an escape JSON does not have"),
        pytest.param(rb"\u12g4", id="an escape of no digits"),
        pytest.param(rb"\u12", id="half an escape"),
        pytest.param(b"\\", id="an escape of the end"),
    ],
)
def test_what_no_text_can_hold(api: httpx.Client, messages: str, content: bytes) -> None:
    body = b'{"content":"%b"}' % content
    assert_invalid_body(api.post(messages, content=body))
    assert_invalid_body(api.post(f"{messages}/batch", content=b'{"messages":[%b]}' % body))
    ndjson = {"Content-Type": "application/x-ndjson"}
    assert_invalid_body(api.post(f"{messages}/batch", content=body, headers=ndjson))
    as_key = b'{"content":"","dedupKey":"%b"}' % content
    assert_invalid_body(api.post(messages, content=as_key))
    assert consume(api, messages) is None


@pytest.mark.parametrize("value", [b"null", b"1", b"1.5", b"true", b"[]", b'["a"]', b"{}"])
@pytest.mark.parametrize("name", [b"content", b"dedupKey"])
def test_what_is_not_a_text(api: httpx.Client, messages: str, name: bytes, value: bytes) -> None:
    body = b'{"content":"a"}' if name != b"content" else b"{}"
    body = body.replace(b"}", b'%b"%b":%b}' % (b"" if body == b"{}" else b",", name, value))
    response = api.post(messages, content=body)
    if (name, value) == (b"dedupKey", b"null"):
        assert_no_content(response)
    else:
        assert_invalid_body(response)


@pytest.mark.parametrize("name", ["priority", "processAfter"])
@pytest.mark.parametrize(
    "value",
    [
        *("1.0", "0.0", "1e1", "-1E-1", "1e400", ".5", "5.", "NaN", "Infinity"),
        *("true", "false", '"1"', '""', "[1]", "{}"),
        *("01", "+1", "0x1", "1_0", "-", "--1", "1" * 5000),
    ],
)
def test_what_is_not_an_integer(api: httpx.Client, messages: str, name: str, value: str) -> None:
    body = f'{{"content":"a","{name}":{value}}}'.encode()
    assert_invalid_body(api.post(messages, content=body))
    assert consume(api, messages) is None


def test_content_is_required(api: httpx.Client, messages: str) -> None:
    for body in (b"{}", b'{"priority":1}', b'{"Content":"a"}', b'{"content ":"a"}'):
        assert_invalid_body(api.post(messages, content=body))


def test_no_body_is_no_message(api: httpx.Client, messages: str) -> None:
    for call in ("", "/batch", "/ack", "/nack", "/extend"):
        assert_invalid_body(api.post(messages + call))


def test_a_body_of_escapes_costs_no_more_than_its_size(api: httpx.Client, messages: str) -> None:
    """Counting the strings of a body must not take memory for each backslash in it."""
    content = b"\\\\" * (31 * 1024 * 1024)
    response = api.post(
        f"{messages}/batch",
        content=b'{"messages":[{"content":"%b"}]}' % content,
        timeout=5,
    )
    assert response.json() == {"code": "bad_request.body.content.exceeds_limit"}
