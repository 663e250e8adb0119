"""Bytes that are not quite HTTP, or not what a client should send."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import httpx
import pytest

from tests.contract.calls import consume, produce, receive
from tests.contract.wire import Wire, request
from tests.live import SECRET

Connect = Callable[[], Wire]

MAX_BODY = 2 * 1024 * 1024
HEALTH = b"GET /healthcheck HTTP/1.1\r\nHost: forq\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x00\x01\x02\xff\xfe garbage\r\n\r\n", id="garbage"),
        pytest.param(b"\xff" * 20_000, id="much garbage"),
        pytest.param(b"\r\n\r\n\r\n", id="empty lines"),
        pytest.param(b"GET\r\n\r\n", id="a method alone"),
        pytest.param(b"GET /\r\n\r\n", id="HTTP/0.9"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="HTTP/9.9"),
        pytest.param(b"GET / HTTP/1\r\n\r\n", id="HTTP/1"),
        pytest.param(b"GET / FTP/1.1\r\n\r\n", id="not HTTP"),
        pytest.param(b"GET /health check HTTP/1.1\r\n\r\n", id="a space in the path"),
        pytest.param(b" GET /healthcheck HTTP/1.1\r\n\r\n", id="a space first"),
        pytest.param(b"G\x00T /healthcheck HTTP/1.1\r\n\r\n", id="NUL in the method"),
        pytest.param(b"get /healthcheck HTTP/1.1\r\n\r\n", id="a method in lower case"),
        pytest.param(b"\xc3\x89 /healthcheck HTTP/1.1\r\n\r\n", id="a method beyond ASCII"),
        pytest.param(b"GET /\xff\xfe HTTP/1.1\r\n\r\n", id="a path beyond ASCII"),
        pytest.param(b"GET /a\x00b HTTP/1.1\r\n\r\n", id="NUL in the path"),
        pytest.param(b"GET /" + b"a" * 8_200 + b" HTTP/1.1\r\n\r\n", id="a line over 8 KB"),
        pytest.param(b"GET /" + b"a" * 100_000, id="a line without end"),
        pytest.param(HEALTH + b"A: " + b"a" * 8_200 + b"\r\n\r\n", id="a header over 8 KB"),
        pytest.param(HEALTH + b"A: " + b"a" * 100_000, id="a header without end"),
        pytest.param(HEALTH + b"a" * 8_200 + b": a\r\n\r\n", id="a header's name over 8 KB"),
        pytest.param(HEALTH + b"A: a\r\n" * 100 + b"\r\n", id="101 headers"),
        pytest.param(HEALTH + b"A: a\r\n" * 5_000, id="headers without end"),
        pytest.param(HEALTH + b"no colon\r\n\r\n", id="a header without a colon"),
        pytest.param(HEALTH + b": a\r\n\r\n", id="a header without a name"),
        pytest.param(HEALTH + b"A : a\r\n\r\n", id="a space before the colon"),
        pytest.param(HEALTH + b"A\xff: a\r\n\r\n", id="a name beyond ASCII"),
        pytest.param(HEALTH + b"A: a\x00b\r\n\r\n", id="NUL in a header"),
        pytest.param(HEALTH + b"A: a\rb\r\n\r\n", id="CR in a header"),
        pytest.param(HEALTH + b"Host: other\r\n\r\n", id="two hosts"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n" * 20, id="TLS"),
    ],
)
def test_what_cannot_be_parsed_is_a_bad_request(wire: Wire, sent: bytes) -> None:
    wire.send(sent)
    answer = wire.answer()
    assert (answer.status, answer.code) == (400, "bad_request.body.invalid")
    assert answer.headers["connection"] == "close"
    assert wire.rest() == b""


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"GET  /healthcheck HTTP/1.1\r\n\r\n", id="two spaces"),
        pytest.param(HEALTH + b" A: a\r\n\r\n", id="a folded line"),
        pytest.param(HEALTH.replace(b"\r\n", b"\n") + b"\n", id="line feeds alone"),
        pytest.param(b"GET * HTTP/1.1\r\n\r\n", id="a target for OPTIONS alone"),
        pytest.param(b"GET healthcheck HTTP/1.1\r\n\r\n", id="a target without a slash"),
    ],
)
def test_what_one_parser_takes_and_the_other_refuses(wire: Wire, sent: bytes) -> None:
    """gunicorn has two, with and without a compiler; neither may answer otherwise than in JSON."""
    wire.send(sent)
    answer = wire.answer()
    assert answer.status in {204, 400, 404}
    if answer.status != 204:
        assert answer.code in {"bad_request.body.invalid", "not_found.path"}


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(["Content-Length: 2", "Transfer-Encoding: chunked"], id="two framings"),
        pytest.param(["Transfer-Encoding: chunked", "Content-Length: 2"], id="two, turned round"),
        pytest.param(["Content-Length: 2", "Content-Length: 3"], id="two lengths"),
        pytest.param(["Content-Length: 2, 3"], id="two lengths in one"),
        pytest.param(["Content-Length: -1"], id="a length below zero"),
        pytest.param(["Content-Length: +2"], id="a length with a sign"),
        pytest.param(["Content-Length: 2 2"], id="a length with a space"),
        pytest.param(["Content-Length: 0x2"], id="a length in hexadecimal"),
        pytest.param(["Content-Length: two"], id="a length in words"),
        pytest.param(["Content-Length:"], id="no length"),
        pytest.param(["Content-Length: " + "9" * 5_000], id="a length of 5,000 digits"),
        pytest.param(["Transfer-Encoding: gzip"], id="an encoding unheard of"),
        pytest.param(["Transfer-Encoding: chunked, gzip"], id="chunked not last"),
        pytest.param(["Transfer-Encoding: chunked, chunked"], id="chunked twice"),
        pytest.param(["Transfer-Encoding: xchunked"], id="almost chunked"),
        pytest.param(["Transfer-Encoding:"], id="no encoding"),
    ],
)
def test_a_body_whose_end_is_not_clear_is_not_read(
    api: httpx.Client, messages: str, wire: Wire, headers: list[str]
) -> None:
    """What follows must not be taken for a request of its own."""
    wire.ask("POST", messages, *headers)
    wire.send(b"{}" + request("POST", messages, body=b'{"content":"smuggled"}'))
    answer = wire.answer()
    assert answer.status in {400, 413}
    assert answer.code.startswith("bad_request.body.")
    assert wire.rest() == b""
    assert consume(api, messages) is None


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param(b"zz\r\n{}\r\n0\r\n\r\n", id="a size that is no number"),
        pytest.param(b"-2\r\n{}\r\n0\r\n\r\n", id="a size below zero"),
        pytest.param(b"0x2\r\n{}\r\n0\r\n\r\n", id="a size with a prefix"),
        pytest.param(b"\r\n{}\r\n0\r\n\r\n", id="no size"),
        pytest.param(b"2\r\n{}x\r\n0\r\n\r\n", id="more than the size"),
        pytest.param(b"2\n{}\n0\n\n", id="line feeds alone"),
        pytest.param(b"f" * 100 + b"\r\n{}", id="a size beyond all numbers"),
        pytest.param(b"2;" + b"a" * 100_000 + b"\r\n{}\r\n0\r\n\r\n", id="an endless extension"),
    ],
)
def test_chunks_that_are_none(api: httpx.Client, messages: str, wire: Wire, chunks: bytes) -> None:
    wire.ask("POST", messages, "Transfer-Encoding: chunked")
    wire.send(chunks)
    wire.finish_sending()
    assert wire.rest().partition(b" ")[2][:3] in {b"400", b"413", b""}
    assert consume(api, messages) is None


def test_a_chunk_that_never_begins_is_not_waited_for(messages: str, wire: Wire) -> None:
    wire.ask("POST", messages, "Transfer-Encoding: chunked")
    with contextlib.suppress(ConnectionError):
        wire.send(b"2;" + b"a" * 1_000_000)
    assert wire.answer().code == "bad_request.body.invalid"
    assert wire.rest() == b""


@pytest.mark.parametrize(
    "chunks",
    [
        b'1\r\n{\r\n12\r\n"content":"pieces"\r\n1\r\n}\r\n0\r\n\r\n',
        b'14;name=value\r\n{"content":"pieces"}\r\n0\r\n\r\n',
        b'0014\r\n{"content":"pieces"}\r\n000\r\nX-Sum: value\r\n\r\n',
    ],
)
def test_a_body_in_chunks(api: httpx.Client, messages: str, wire: Wire, chunks: bytes) -> None:
    wire.ask("POST", messages, "Transfer-Encoding: chunked")
    for number in range(len(chunks)):
        wire.send(chunks[number : number + 1])
    assert wire.answer().status == 204
    assert receive(api, messages).content == "pieces"


def test_a_length_over_the_limit_is_answered_without_the_body(
    messages: str, connect: Connect
) -> None:
    for call, limit in {"": MAX_BODY, "/batch": 32 * MAX_BODY, "/claim": MAX_BODY}.items():
        for size in (limit + 1, 10**30):
            wire = connect()
            wire.ask("POST", messages + call, f"Content-Length: {size}")
            answer = wire.answer()
            assert answer.status == 413
            assert answer.code == "bad_request.body.content.exceeds_limit"
            assert answer.headers["connection"] == "close"
            assert wire.rest() == b""


def test_a_client_that_asks_first_need_not_send_what_is_too_large(
    messages: str, wire: Wire
) -> None:
    wire.ask("POST", messages, f"Content-Length: {MAX_BODY + 1}", "Expect: 100-continue")
    assert wire.answer().status == 413
    assert wire.rest() == b""


def test_a_client_that_asks_first_is_told_to_go_on(
    api: httpx.Client, messages: str, wire: Wire
) -> None:
    for _ in range(2):
        wire.ask("POST", messages, "Content-Length: 19", "Expect: 100-continue")
        assert wire.answer().status == 100
        wire.send(b'{"content":"asked"}')
        assert wire.answer().status == 204
    assert receive(api, messages).content == "asked"


def test_a_client_that_asks_first_with_a_wrong_key_is_told_at_once(
    messages: str, wire: Wire
) -> None:
    head = request("POST", messages, "Content-Length: 10", "Expect: 100-continue")
    wire.send(head.replace(SECRET.encode(), b"wrong"))
    # Another test may have used up this address's guesses.
    assert wire.answer().status in {401, 429}
    assert wire.rest() == b""


def send_often(wire: Wire, piece: bytes, times: int) -> None:
    for _ in range(times):
        wire.send(piece)


@pytest.mark.parametrize("chunk", [1_000, 65_536, 8 * MAX_BODY])
def test_chunks_over_the_limit_are_not_read_to_their_end(
    api: httpx.Client, messages: str, wire: Wire, chunk: int
) -> None:
    wire.ask("POST", messages, "Transfer-Encoding: chunked")
    piece = b"%x\r\n%b\r\n" % (chunk, b" " * chunk)
    with pytest.raises(ConnectionError):
        # The server must not take in a gibibyte: it closes, and what is sent then fails.
        send_often(wire, piece, 2**30 // chunk)
    answer = wire.answer()
    assert (answer.status, answer.code) == (413, "bad_request.body.content.exceeds_limit")
    assert consume(api, messages) is None


def test_a_large_body_sent_to_its_end_is_answered(messages: str, wire: Wire) -> None:
    """A client that reads only after it has sent all must find its answer."""
    body = b" " * (MAX_BODY + 1)
    wire.ask("POST", messages, f"Content-Length: {len(body)}")
    wire.socket.settimeout(5)
    with contextlib.suppress(ConnectionError):
        wire.send(body)
    assert wire.answer().status == 413


def test_pipelined_requests_are_answered_in_order(
    api: httpx.Client, messages: str, wire: Wire
) -> None:
    bodies = [b'{"content":"%d"}' % number for number in range(50)]
    wire.send(b"".join(request("POST", messages, body=body) for body in bodies))
    ids = [wire.answer().headers["x-forq-message-id"] for _ in bodies]
    assert ids == sorted(set(ids))
    wire.send(request("GET", f"{messages}?waitMs=0") * 51)
    contents = [wire.answer().json()["content"] for _ in bodies]
    assert contents == [str(number) for number in range(50)]
    assert wire.answer().status == 204


def test_what_waits_holds_up_what_is_pipelined_behind_it(
    api: httpx.Client, messages: str, wire: Wire
) -> None:
    wire.send(
        request("GET", f"{messages}?waitMs=20000")
        + request("GET", "/healthcheck")
        + request("GET", "/nothing")
    )
    assert consume(api, messages) is None
    message_id = produce(api, messages)
    assert wire.answer().json()["id"] == message_id
    assert [wire.answer().status, wire.answer().status] == [204, 404]


def test_garbage_behind_a_request_does_not_spoil_its_answer(
    api: httpx.Client, messages: str, wire: Wire
) -> None:
    wire.send(request("POST", messages, body=b'{"content":"first"}') + b"\x00garbage\r\n\r\n")
    assert wire.answer().status == 204
    assert wire.answer().code == "bad_request.body.invalid"
    assert wire.rest() == b""
    assert receive(api, messages).content == "first"


def test_an_error_leaves_the_connection_in_step(messages: str, wire: Wire) -> None:
    bad = request("POST", messages, body=b'{"content":1}')
    unread = request("PUT", messages, body=b"GET /healthcheck HTTP/1.1\r\n\r\n")
    wire.send(bad + unread + bad + request("GET", "/healthcheck"))
    statuses = [wire.answer().status for _ in range(4)]
    assert statuses == [400, 405, 400, 204]


def test_a_request_byte_by_byte(api: httpx.Client, messages: str, wire: Wire) -> None:
    for byte in request("POST", messages, body=b'{"content":"bytes"}'):
        wire.send(bytes([byte]))
    assert wire.answer().status == 204
    assert receive(api, messages).content == "bytes"


def test_a_client_that_stops_sending_gets_no_less(
    api: httpx.Client, messages: str, connect: Connect
) -> None:
    """Half a request and no more: the connection ends, nothing is stored."""
    whole = request("POST", messages, body=b'{"content":"half"}')
    for size in (0, 1, 10, len(whole) - 20, len(whole) - 1):
        wire = connect()
        wire.send(whole[:size])
        wire.finish_sending()
        assert b" 204 " not in wire.rest()
    assert consume(api, messages) is None


def test_http_1_0(messages: str, connect: Connect) -> None:
    for head, kept in {b"": False, b"Connection: keep-alive\r\n": True}.items():
        wire = connect()
        wire.send(b"GET /healthcheck HTTP/1.0\r\n" + head + b"\r\n")
        answer = wire.answer()
        assert answer.status == 204
        if not kept:
            assert wire.rest() == b""


def test_connection_close_is_kept_to(wire: Wire) -> None:
    wire.ask("GET", "/healthcheck", "Connection: close")
    answer = wire.answer()
    assert (answer.status, answer.headers["connection"]) == (204, "close")
    assert wire.rest() == b""


@pytest.mark.parametrize("path", ["/healthcheck", "/nothing", "/api/v1/queues/q/messages"])
def test_a_head_has_no_body(wire: Wire, path: str) -> None:
    for _ in range(2):
        wire.ask("HEAD", path)
        assert wire.answer(bodiless=True).status in {204, 404, 405}


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("OPTIONS *", 404),
        ("CONNECT forq:443", 404),
        ("GET /healthcheck#fragment", 404),
        ("GET /./healthcheck", 404),
        ("GET /x/../healthcheck", 404),
        ("GET /%2e%2e/healthcheck", 404),
        ("GET //healthcheck", 404),
        ("GET /healthcheck//", 404),
        ("GET /healthcheck%00", 404),
        ("GET /healthcheck%2f", 404),
        ("GET /%68ealthcheck", 204),
        ("GET /healthcheck?%ff&&==", 204),
        ("GET ///", 404),
        ("GET /api/v1/queues/q/../../../healthcheck", 404),
        ("GET /api/v1/queues/%ff%fe/messages", 400),
        ("GET /api/v1/queues/%ed%a0%80/messages", 400),
        ("GET /api/v1/queues/%2e%2e%2f/messages", 404),
        ("GET /api/v1/queues/../messages?waitMs=0", 204),
        ("GET /api/v1/queues/./messages?waitMs=0", 204),
        ("TRACE /healthcheck", 405),
        ("QUERY /healthcheck", 405),
        ("M-SEARCH /healthcheck", 405),
        ("PRI /healthcheck", 405),
    ],
)
def test_odd_targets(wire: Wire, line: str, status: int) -> None:
    method, target = line.split(" ")
    wire.ask(method, target)
    answer = wire.answer()
    assert answer.status == status
    if status != 204:
        assert answer.code.split(".")[0] in {"bad_request", "not_found", "method_not_allowed"}


def test_nothing_of_the_request_comes_back(wire: Wire) -> None:
    wire.ask("TRACE", "/healthcheck?secret=1", "X-Private: a-private-word")
    answer = wire.answer()
    assert b"private" not in answer.body
    assert "private" not in str(answer.headers)
    wire.ask("GET", "/%0d%0aX-Injected:%20yes")
    assert "x-injected" not in wire.answer().headers


@pytest.mark.parametrize("upgrade", ["websocket", "h2", "TLS/1.0", "h2c", "odd"])
def test_an_upgrade_nobody_offers_is_not_made(
    api: httpx.Client, messages: str, wire: Wire, upgrade: str
) -> None:
    produce(api, messages)
    wire.ask(
        "GET",
        f"{messages}?waitMs=0",
        "Connection: Upgrade",
        f"Upgrade: {upgrade}",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
    )
    answer = wire.answer()
    assert (answer.status, answer.json()["content"]) == (200, "content")


def test_headers_at_their_limits(wire: Wire) -> None:
    wire.ask("GET", "/healthcheck", "A: " + "a" * 8_000)
    assert wire.answer().status == 204
    wire.ask("GET", "/healthcheck", *["A: a"] * 98)
    assert wire.answer().status == 204
    wire.ask("GET", "/" + "a" * 8_100)
    assert wire.answer().status == 404


def test_a_bad_neighbour_disturbs_nobody(
    api: httpx.Client, messages: str, connect: Connect
) -> None:
    neighbours = [connect() for _ in range(50)]
    for number, neighbour in enumerate(neighbours):
        neighbour.send([b"GET / HT", b"\x00", HEALTH, b"PRI * HTTP/2"][number % 4])
    started = time.monotonic()
    message_id = produce(api, messages)
    assert receive(api, messages).id == message_id
    assert time.monotonic() - started < 2
