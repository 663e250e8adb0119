"""Many HTTP/1.1 connections that each send the next request when the last one is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Final, cast

from bench.server import SECRET

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "


def request(method: str, path: str, body: bytes = b"", headers: str = "") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {SECRET}\r\n"
        f"Content-Length: {len(body)}\r\n{headers}\r\n"
    ).encode() + body


class _Connection(asyncio.Protocol):
    """Reads just what our server sends: a head, and a body of the length it names."""

    def __init__(
        self,
        requests: Iterator[bytes],
        answered: Callable[[bytes, bytes], None],
        done: asyncio.Future[None],
    ) -> None:
        self._requests = requests
        self._answered = answered
        self._done = done
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes.
        self._transport = cast(asyncio.Transport, transport)
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(exc or ConnectionResetError("closed by the server"))

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        end = buffer.find(_HEAD_END)
        if end < 0:
            self._buffer = buffer
            return
        head = buffer[:end]
        at = head.find(_LENGTH)
        length = 0 if at < 0 else int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
        body = buffer[end + 4 :]
        if len(body) < length:
            self._buffer = buffer
            return
        self._buffer = b""
        self._answered(head, body)
        self._next()

    def _next(self) -> None:
        upcoming = next(self._requests, None)
        if upcoming is not None:
            self._transport.write(upcoming)
        elif not self._done.done():
            self._done.set_result(None)
            self._transport.close()


async def send_all(
    port: int,
    connections: int,
    requests: Iterator[bytes],
    answered: Callable[[bytes, bytes], None],
) -> None:
    """Send every request, over so many connections at once."""
    loop = asyncio.get_running_loop()
    dones = []
    for _ in range(connections):
        done: asyncio.Future[None] = loop.create_future()
        dones.append(done)
        await loop.create_connection(
            lambda done=done: _Connection(requests, answered, done),  # type: ignore[misc]
            "127.0.0.1",
            port,
        )
    await asyncio.gather(*dones)
