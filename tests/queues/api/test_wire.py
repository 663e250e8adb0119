"""Bodies are read up to their limit and within their time, however they arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from queues.api.wire import (
    BATCH_BODY_PATIENCE_S,
    BODY_PATIENCE_S,
    Headers,
    Message,
    Receive,
    read_body,
    send_error,
    send_json,
    send_nothing,
)
from queues.errors import BodyTooLarge, ForqError, Overloaded
from queues.limits import MAX_BATCH_BODY_BYTES, MAX_BODY_BYTES
from tests.queues.moved_time import MovedTimeLoop

pytestmark = pytest.mark.anyio
GONE: Message = {"type": "http.disconnect"}
MIB = 1024 * 1024


@pytest.fixture
def anyio_backend() -> object:
    return "asyncio", {"loop_factory": MovedTimeLoop}


class Script:
    """A client whose messages are written down; ``pause_s`` before each but the first."""

    def __init__(self, messages: Iterable[Message], pause_s: float = 0) -> None:
        self._messages = iter(messages)
        self._pause_s = pause_s
        self.read = 0

    async def __call__(self) -> Message:
        if self.read:
            await asyncio.sleep(self._pause_s)
        message = next(self._messages, None)
        if message is None:
            await asyncio.Event().wait()
        self.read += 1
        assert message is not None
        return message


def chunk(body: bytes, *, more: bool = True) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


def length(size: int | bytes) -> Headers:
    return [(b"host", b"x"), (b"content-length", b"%d" % size if isinstance(size, int) else size)]


async def body_of(
    receive: Receive, headers: Headers | None = None, *, batch: bool = False
) -> bytes:
    return await read_body(receive, headers or [], batch=batch)


@pytest.mark.parametrize(
    "messages",
    [
        [chunk(b"abcdef", more=False)],
        [chunk(b"abc"), chunk(b"def", more=False)],
        [chunk(b""), chunk(b"a"), chunk(b""), chunk(b"bcdef"), chunk(b"", more=False)],
        [{"type": "http.request", "body": b"abcdef"}],
        [{"type": "http.request", "more_body": True}, chunk(b"abcdef"), {"type": "http.request"}],
    ],
)
async def test_a_body_is_put_together_from_its_parts(messages: list[Message]) -> None:
    assert await body_of(Script(messages)) == b"abcdef"


async def test_no_body_is_an_empty_one() -> None:
    assert await body_of(Script([{"type": "http.request"}])) == b""


@pytest.mark.parametrize(
    ("batch", "limit"), [(False, MAX_BODY_BYTES), (True, MAX_BATCH_BODY_BYTES)]
)
async def test_a_body_may_be_as_large_as_its_limit(*, batch: bool, limit: int) -> None:
    whole = Script([chunk(bytes(limit), more=False)])
    parts = Script([*(chunk(bytes(MIB)) for _ in range(limit // MIB)), chunk(b"", more=False)])

    assert len(await body_of(whole, length(limit), batch=batch)) == limit
    assert len(await body_of(parts, batch=batch)) == limit


@pytest.mark.parametrize(
    ("batch", "limit"), [(False, MAX_BODY_BYTES), (True, MAX_BATCH_BODY_BYTES)]
)
async def test_a_body_that_says_it_is_larger_is_not_read_at_all(*, batch: bool, limit: int) -> None:
    script = Script([chunk(b"x")])

    with pytest.raises(BodyTooLarge):
        await body_of(script, length(limit + 1), batch=batch)

    assert script.read == 0


@pytest.mark.parametrize("digits", [20, 5_000])
async def test_a_length_beyond_all_measure_is_too_large(digits: int) -> None:
    with pytest.raises(BodyTooLarge):
        await body_of(Script([]), length(b"9" * digits))


@pytest.mark.parametrize(
    ("batch", "limit"), [(False, MAX_BODY_BYTES), (True, MAX_BATCH_BODY_BYTES)]
)
async def test_reading_stops_where_a_body_without_a_length_is_too_large(
    *, batch: bool, limit: int
) -> None:
    script = Script(chunk(bytes(MIB)) for _ in range(1_000))

    with pytest.raises(BodyTooLarge) as raised:
        await body_of(script, batch=batch)

    assert script.read == limit // MIB + 1
    assert (raised.value.status, raised.value.code) == (
        413,
        "bad_request.body.content.exceeds_limit",
    )


async def test_one_byte_over_the_limit_is_too_large() -> None:
    for messages in (
        [chunk(bytes(MAX_BODY_BYTES + 1), more=False)],
        [chunk(bytes(MAX_BODY_BYTES)), chunk(b"x", more=False)],
    ):
        with pytest.raises(BodyTooLarge):
            await body_of(Script(messages))


@pytest.mark.parametrize("messages", [[GONE], [chunk(b"{"), GONE], [chunk(b""), chunk(b""), GONE]])
async def test_a_body_that_breaks_off_is_a_bad_one(messages: list[Message]) -> None:
    with pytest.raises(ForqError, match=r"bad_request\.body\.invalid"):
        await body_of(Script(messages))


@pytest.mark.parametrize(
    ("batch", "patience_s"), [(False, BODY_PATIENCE_S), (True, BATCH_BODY_PATIENCE_S)]
)
async def test_a_body_that_trickles_has_to_be_there_in_time(
    *, batch: bool, patience_s: float
) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    script = Script((chunk(b"x") for _ in range(10_000)), pause_s=1)

    with pytest.raises(ForqError, match=r"bad_request\.body\.invalid"):
        await body_of(script, batch=batch)

    assert loop.time() - start == pytest.approx(patience_s)


async def test_a_body_that_stops_arriving_is_not_waited_for_longer() -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()

    with pytest.raises(ForqError, match=r"bad_request\.body\.invalid"):
        await body_of(Script([chunk(b"{")]))

    assert loop.time() - start == pytest.approx(BODY_PATIENCE_S)


async def test_a_slow_body_that_is_there_in_time_is_fine() -> None:
    script = Script([*(chunk(b"x") for _ in range(20)), chunk(b"", more=False)], pause_s=1)

    assert await body_of(script) == b"x" * 20


async def test_answers_are_what_asgi_wants() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await send_nothing(send)
    await send_nothing(send, [(b"x-a", b"b")])
    await send_json(send, {"ä": 1}, 200)
    await send_error(send, Overloaded())

    assert sent == [
        {"type": "http.response.start", "status": 204, "headers": []},
        {"type": "http.response.body", "body": b""},
        {"type": "http.response.start", "status": 204, "headers": [(b"x-a", b"b")]},
        {"type": "http.response.body", "body": b""},
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"application/json"), (b"content-length", b"8")],
        },
        {"type": "http.response.body", "body": '{"ä":1}'.encode()},
        {
            "type": "http.response.start",
            "status": 429,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", b"21"),
                (b"retry-after", b"1"),
            ],
        },
        {"type": "http.response.body", "body": b'{"code":"overloaded"}'},
    ]
