"""Reading requests and writing answers on the ASGI interface."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

import msgspec

from queues import limits
from queues.errors import BodyTooLarge, ForqError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

# A body has to be there within this time; a large one gets more.
BODY_PATIENCE_S: Final = 30.0
BATCH_BODY_PATIENCE_S: Final = 120.0
_LENGTH_DIGITS: Final = 20
_JSON: Final = (b"content-type", b"application/json")
_END: Final = {"type": "http.response.body", "body": b""}
_NO_CONTENT: Final = {"type": "http.response.start", "status": 204, "headers": []}
encode: Final = msgspec.json.Encoder().encode


async def read_body(receive: Receive, headers: Headers, *, batch: bool = False) -> bytes:
    """The whole body; stops reading where it is over the limit.

    One that breaks off is answered like any other bad one: if it was the client who went away,
    the answer goes nowhere.
    """
    limit = limits.MAX_BATCH_BODY_BYTES if batch else limits.MAX_BODY_BYTES
    for name, value in headers:
        # Python refuses to read thousands of digits.
        if (
            name == b"content-length"
            and value.isdigit()
            and (len(value) > _LENGTH_DIGITS or int(value) > limit)
        ):
            raise BodyTooLarge
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ForqError("bad_request.body.invalid")
    body: bytes = message.get("body", b"")
    if message.get("more_body", False):
        patience = BATCH_BODY_PATIENCE_S if batch else BODY_PATIENCE_S
        try:
            async with asyncio.timeout(patience):
                body = await _read_rest(receive, body, limit)
        except TimeoutError:
            raise ForqError("bad_request.body.invalid") from None
    if len(body) > limit:
        raise BodyTooLarge
    return body


async def _read_rest(receive: Receive, first: bytes, limit: int) -> bytes:
    chunks = [first]
    size = len(first)
    while size <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ForqError("bad_request.body.invalid")
        chunk = message.get("body", b"")
        chunks.append(chunk)
        size += len(chunk)
        if not message.get("more_body", False):
            break
    return b"".join(chunks)


async def send_nothing(send: Send, headers: Headers | None = None) -> None:
    """204."""
    if headers is None:
        await send(_NO_CONTENT)
    else:
        await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send(_END)


async def send_json(
    send: Send, value: object, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = encode(value)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [_JSON, (b"content-length", b"%d" % len(body)), *headers],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: ForqError) -> None:
    await send_json(send, {"code": error.code}, error.status, error.headers)
