"""Cleartext HTTP/2: by prior knowledge, and by an upgrade from HTTP/1.1."""

from __future__ import annotations

import asyncio
import contextlib
import struct
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from h2.settings import SettingCodes

from tests.contract.answers import assert_no_content, assert_refused, assert_settled
from tests.contract.calls import claim, consume, produce, receive, settle, settle_batch
from tests.contract.frames import Frames, NoAnswer
from tests.contract.wire import Wire
from tests.live import SECRET, LiveServer

MAX_BODY = 2 * 1024 * 1024
MAX_CONTENT = 262_144


@pytest.fixture(scope="module")
def h2(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client(http1=False, http2=True) as client:
        yield client


@pytest.fixture
def connect_h2(server: LiveServer) -> Iterator[Callable[[], Frames]]:
    opened: list[Frames] = []

    def open_one() -> Frames:
        opened.append(Frames(server))
        return opened[-1]

    yield open_one
    for frames in opened:
        frames.close()


@pytest.fixture
def frames(connect_h2: Callable[[], Frames]) -> Frames:
    return connect_h2()


def async_client(server: LiveServer, connections: int = 1) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        base_url=server.url,
        headers={"X-API-Key": SECRET},
        http1=False,
        http2=True,
        timeout=60,
        limits=httpx.Limits(max_connections=connections),
    )


def test_it_is_spoken(h2: httpx.Client) -> None:
    response = h2.get("/healthcheck")
    assert response.http_version == "HTTP/2"
    assert_no_content(response)


def test_a_message_from_produce_to_ack(h2: httpx.Client, messages: str) -> None:
    message_id = produce(h2, messages, "é😀\x00", priority=5, dedupKey="k")
    duplicate = h2.post(messages, json={"content": "", "dedupKey": "k"})
    assert duplicate.headers["x-forq-duplicate"] == "true"
    held = receive(h2, messages)
    assert held[:2] == (message_id, "é😀\x00")
    assert_no_content(settle(h2, messages, "extend", held.id, held.receipt, visibilityMs=60_000))
    assert_no_content(settle(h2, messages, "nack", held.id, held.receipt, delayMs=0))
    assert_refused(settle(h2, messages, "ack", held.id, held.receipt), 404, "not_found.message")
    (again,) = claim(h2, messages)
    item = {"id": again["id"], "receipt": again["receipt"]}
    assert_settled(settle_batch(h2, messages, "ack", item), done=[message_id])
    assert consume(h2, messages) is None


def test_errors_are_the_same(h2: httpx.Client, messages: str) -> None:
    assert_refused(h2.get("/nothing"), 404, "not_found.path")
    assert_refused(h2.post(messages, content=b"{"), 400, "bad_request.body.invalid")
    assert_refused(h2.get(f"{messages}?waitMs=x"), 400, "bad_request.query.invalid")
    assert_refused(h2.get("/api/v1/queues/%ff/messages"), 400, "bad_request.queue.invalid_name")
    response = h2.put(messages)
    assert_refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "GET, POST"
    assert h2.head(messages).status_code == 405
    assert h2.get(messages, headers={"X-API-Key": "wrong"}).status_code in {401, 429}
    assert_no_content(h2.get("/healthcheck"))


@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_content_at_its_limit(h2: httpx.Client, messages: str, character: str) -> None:
    content = character * (MAX_CONTENT // len(character.encode()))
    produce(h2, messages, content)
    assert receive(h2, messages).content == content
    response = h2.post(messages, json={"content": content + "a"})
    assert_refused(response, 400, "bad_request.body.content.exceeds_limit")


def test_the_whole_body_at_its_limit(h2: httpx.Client, messages: str) -> None:
    body = b'{"content":"padded"}'
    assert_no_content(h2.post(messages, content=body.ljust(MAX_BODY)))
    assert receive(h2, messages).content == "padded"


def test_a_body_of_unknown_length_over_the_limit(frames: Frames, messages: str) -> None:
    """The answer comes while the client still has more to send."""
    stream_id = frames.ask("POST", messages, body=None)
    frames.pour(stream_id, b" " * (MAX_BODY + 100_000))
    answer = frames.answer(stream_id)
    assert (answer.status, answer.code) == (413, "bad_request.body.content.exceeds_limit")
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204


def test_an_answer_that_comes_before_the_request_has_ended(
    api: httpx.Client, messages: str, frames: Frames
) -> None:
    """The client goes on and ends it; it must not be told that this was wrong."""
    message_id = produce(api, messages)
    receive(api, messages)
    for path, status in ((f"{messages}/{message_id}/ack", 204), ("/nothing", 404)):
        stream_id = frames.ask("POST", path, body=None)
        assert frames.answer(stream_id).status == status
        frames.connection.end_stream(stream_id)
        frames.flush()
        assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204
        assert not frames.was_reset(stream_id)


def test_large_batches_both_ways(h2: httpx.Client, messages: str) -> None:
    contents = [f"{number:02}" * (MAX_CONTENT // 2) for number in range(20)]
    batch = {"messages": [{"content": content} for content in contents]}
    ids = h2.post(f"{messages}/batch", json=batch).json()["ids"]
    claimed = claim(h2, messages, max=20)
    assert [(each["id"], each["content"]) for each in claimed] == list(
        zip(ids, contents, strict=True)
    )


def test_a_length_over_the_limit_is_answered_without_the_body(
    frames: Frames, messages: str
) -> None:
    stream_id = frames.ask("POST", messages, ("content-length", str(MAX_BODY + 1)), body=None)
    answer = frames.answer(stream_id)
    assert (answer.status, answer.code) == (413, "bad_request.body.content.exceeds_limit")
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204


def test_a_waiting_consumer_is_woken(api: httpx.Client, messages: str, frames: Frames) -> None:
    stream_id = frames.ask("GET", f"{messages}?waitMs=20000")
    assert consume(api, messages) is None
    message_id = produce(api, messages)
    produced = time.monotonic()
    assert frames.answer(stream_id).json()["id"] == message_id
    assert time.monotonic() - produced < 2


def test_a_stream_that_waits_holds_up_no_other(messages: str, frames: Frames) -> None:
    waiting = frames.ask("GET", f"{messages}?waitMs=20000")
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204
    produced = frames.answer(frames.ask("POST", messages, body=b'{"content":"a"}'))
    assert frames.answer(waiting).json()["id"] == produced.headers["x-forq-message-id"]


def test_consumers_are_served_in_the_order_they_came(
    api: httpx.Client, messages: str, frames: Frames
) -> None:
    waiting = [frames.ask("GET", f"{messages}?waitMs=20000") for _ in range(10)]
    assert frames.answer(frames.ask("GET", f"{messages}?waitMs=0")).status == 204
    for stream_id in waiting:
        message_id = produce(api, messages)
        assert frames.answer(stream_id).json()["id"] == message_id


def test_a_stream_that_was_left_gets_no_message(
    api: httpx.Client, messages: str, frames: Frames
) -> None:
    for _ in range(20):
        gone = frames.ask("POST", f"{messages}/claim", body=b'{"max":10,"waitMs":20000}')
        assert frames.answer(frames.ask("GET", f"{messages}?waitMs=0")).status == 204
        frames.leave(gone)
        message_id = produce(api, messages)
        (message,) = claim(api, messages, wait_ms=2_000)
        assert (message["id"], message["attempts"]) == (message_id, 1)
        settle(api, messages, "ack", message["id"], message["receipt"])
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204


def test_a_connection_that_was_left_gets_no_messages(
    api: httpx.Client, messages: str, connect_h2: Callable[[], Frames]
) -> None:
    for _ in range(10):
        gone = connect_h2()
        for _ in range(5):
            gone.ask("GET", f"{messages}?waitMs=20000")
        assert gone.answer(gone.ask("GET", f"{messages}?waitMs=0")).status == 204
        gone.close()
        message_id = produce(api, messages)
        (message,) = claim(api, messages, wait_ms=2_000)
        assert (message["id"], message["attempts"]) == (message_id, 1)
        settle(api, messages, "ack", message["id"], message["receipt"])


def test_a_client_that_goes_in_the_middle_of_its_answer_keeps_nothing(
    api: httpx.Client, messages: str, frames: Frames
) -> None:
    """Its window is wide open, but it does not read: the answer waits in the server."""
    batch = {"messages": [{"content": "a" * MAX_CONTENT}] * 60}
    ids = api.post(f"{messages}/batch", json=batch).json()["ids"]
    frames.connection.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 2**30})
    frames.connection.increment_flow_control_window(2**30)
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204
    frames.await_answer(frames.ask("POST", f"{messages}/claim", body=b'{"max":60,"waitMs":0}'))
    assert consume(api, messages) is None
    frames.close()
    first, *_ = claim(api, messages, max=60, wait_ms=5_000)
    assert (first["id"], first["attempts"]) == (ids[0], 1)


def test_200_consumers_wait_on_three_connections(
    server: LiveServer, api: httpx.Client, messages: str
) -> None:
    """More than a connection's hundred streams; nothing is lost, nothing comes twice."""

    async def run() -> list[str]:
        async with async_client(server, connections=3) as client:
            waiting = [
                asyncio.create_task(client.get(messages, params={"waitMs": 30_000}))
                for _ in range(200)
            ]
            async with async_client(server) as producer:
                produced = await asyncio.gather(
                    *(producer.post(messages, json={"content": str(n)}) for n in range(200))
                )
            assert {response.status_code for response in produced} == {204}
            return [response.json()["content"] for response in await asyncio.gather(*waiting)]

    assert sorted(map(int, asyncio.run(run()))) == list(range(200))
    assert consume(api, messages) is None


def test_many_messages_go_round_on_one_connection(server: LiveServer, messages: str) -> None:
    """A hundred streams at a time, each from produce to ack."""

    async def go_round(client: httpx.AsyncClient, number: int) -> str:
        content = f"{number}:" + "x" * (number % 50 * 100)
        assert (await client.post(messages, json={"content": content})).status_code == 204
        held = (await client.get(messages)).json()
        headers = {"X-Forq-Receipt": held["receipt"]}
        acked = await client.post(f"{messages}/{held['id']}/ack", headers=headers)
        assert acked.status_code == 204
        received: str = held["content"]
        return received

    async def run() -> list[str]:
        async with async_client(server) as client:
            return await asyncio.gather(*(go_round(client, number) for number in range(500)))

    received = asyncio.run(run())
    assert sorted(int(content.partition(":")[0]) for content in received) == list(range(500))


def test_an_upgrade_from_http_1(messages: str, wire: Wire) -> None:
    """The first request is answered as stream 1 of the new protocol."""
    settings = "AAMAAABkAAQAAP__"
    wire.ask(
        "GET",
        "/healthcheck",
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        f"HTTP2-Settings: {settings}",
    )
    answer = wire.answer()
    assert (answer.status, answer.headers["upgrade"]) == (101, "h2c")
    # The server's first frame has to be SETTINGS (type 4) on stream 0.
    length, kind, _, stream_id = struct.unpack("!3sBBL", wire.read(9))
    assert (kind, stream_id) == (4, 0)
    assert len(length) == 3


def test_http_1_goes_on_beside_it(api: httpx.Client, h2: httpx.Client, messages: str) -> None:
    assert api.get("/healthcheck").http_version == "HTTP/1.1"
    message_id = produce(api, messages)
    assert receive(h2, messages).id == message_id


@pytest.mark.parametrize(
    "nonsense",
    [
        pytest.param(b"\x00\x00\x04\x00\x00\x00\x00\x00\x00abcd", id="DATA on stream 0"),
        pytest.param(b"\x00\x00\x04\x00\x00\x00\x00\x00\x09abcd", id="DATA on an idle stream"),
        pytest.param(b"\x00\x00\x01\x01\x05\x00\x00\x00\x01\xff", id="HEADERS that HPACK is not"),
        pytest.param(b"\x00\x00\x01\x04\x00\x00\x00\x00\x00\x00", id="half a setting"),
        pytest.param(b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00", id="window of 0"),
        pytest.param(b"\x00\x00\x04\x09\x04\x00\x00\x00\x01\x82\x84\x86\x41", id="CONTINUATION"),
    ],
)
def test_frames_that_are_none_end_the_connection_and_nothing_else(
    api: httpx.Client, frames: Frames, nonsense: bytes
) -> None:
    assert frames.answer(frames.ask("GET", "/healthcheck")).status == 204
    frames.socket.sendall(nonsense)
    assert frames.ended()
    assert_no_content(api.get("/healthcheck"))


@pytest.mark.parametrize(
    "header",
    [
        ("X-UPPER", "case"),
        ("connection", "keep-alive"),
        ("transfer-encoding", "chunked"),
        (":path", "/again"),
        (":unknown", "pseudo"),
        ("a b", "space"),
        ("a", "line\r\nbreak"),
        ("a", "nul\x00"),
        ("content-length", "x"),
        ("content-length", "-1"),
        ("content-length", "5"),
    ],
)
def test_headers_http_2_does_not_allow(
    api: httpx.Client, frames: Frames, messages: str, header: tuple[str, str]
) -> None:
    """The stream or the connection ends, or the answer is an error; never a hang, never a 500."""
    stream_id = frames.ask("POST", messages, header, body=b'{"content":"a"}')
    with contextlib.suppress(NoAnswer):
        assert frames.answer(stream_id).status in {400, 413}
    assert_no_content(api.get("/healthcheck"))
    assert consume(api, messages) is None


def test_headers_beyond_all_measure(api: httpx.Client, frames: Frames) -> None:
    for number in range(20):
        frames.ask("GET", "/healthcheck", (f"a-{number}", "a" * 8_000), ("b", "b" * 8_000))
    wide = [(f"a-{number}", "a" * 900) for number in range(150)]
    frames.ask("GET", "/healthcheck", *wide)
    assert_no_content(api.get("/healthcheck"))


def test_a_flood_of_streams_that_are_left_disturbs_nobody(
    api: httpx.Client, messages: str, frames: Frames
) -> None:
    with contextlib.suppress(ConnectionError):
        for _ in range(1000):
            frames.leave(frames.ask("GET", f"{messages}?waitMs=20000"))
    started = time.monotonic()
    message_id = produce(api, messages)
    assert receive(api, messages, wait_ms=2_000).id == message_id
    assert time.monotonic() - started < 2


def test_a_client_that_takes_nothing_in_disturbs_nobody(
    api: httpx.Client, messages: str, connect_h2: Callable[[], Frames]
) -> None:
    """Its window is never opened again; the messages it was sent stay with it, no others."""
    content = "a" * MAX_CONTENT
    for _ in range(3):
        produce(api, messages, content)
    stuck = connect_h2()
    stuck.ask("GET", messages)
    stuck.ask("GET", messages)
    received = receive(api, messages, wait_ms=2_000)
    assert received.content == content
    assert_no_content(settle(api, messages, "ack", received.id, received.receipt))
