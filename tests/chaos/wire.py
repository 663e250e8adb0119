"""A light HTTP/1.1 client that tells a connection cut in an answer from one closed before it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from tests.live import SECRET

T = TypeVar("T")


class Closed(Exception):
    """The connection ended before an answer began."""


class Cut(Exception):
    """The connection ended in the middle of an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    at: float
    """When its last byte arrived, by time.monotonic()."""

    def json(self) -> Any:
        return json.loads(self.body)


class Wire(asyncio.Protocol):
    """A connection that does not outlive its test."""

    _open: ClassVar[set[Wire]] = set()
    _transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)

    def close(self) -> None:
        """Close as a process that ends would: nothing more is read."""
        self._transport.abort()

    @classmethod
    async def close_all(cls) -> None:
        while cls._open:
            for wire in list(cls._open):
                wire.close()
            await asyncio.sleep(0)


class Connection(Wire):
    """One keep-alive connection, one request at a time."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._missing = 0
        self._answer: asyncio.Future[Answer] | None = None
        self._ended = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, port: int, source: str = "127.0.0.1") -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            cls, "127.0.0.1", port, local_addr=(source, 0) if source != "127.0.0.1" else None
        )
        return connection

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) < self._missing:
            return
        answer, size = parse(bytes(self._buffer))
        if answer is None:
            self._missing = size
            return
        del self._buffer[:size]
        self._missing = 0
        assert self._answer is not None, "an answer nobody asked for"
        if not self._answer.done():
            self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(
                Cut(repr(bytes(self._buffer[:200]))) if self._buffer else Closed(repr(exc))
            )
        if not self._ended.done():
            self._ended.set_result(bool(self._buffer))

    @property
    def is_closed(self) -> bool:
        return self._ended.done()

    async def ended(self) -> None:
        """Wait until the server has closed the connection; it must not do so inside an answer."""
        if await self._ended:
            raise Cut(repr(bytes(self._buffer[:200])))

    def send(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> asyncio.Future[Answer]:
        """Send a request; the future gets its answer, Closed or Cut."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "Host: forq", f"X-API-Key: {SECRET}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append("Content-Type: application/json")
        if method != "GET":
            lines.append(f"Content-Length: {len(content)}")
        lines += ["", ""]
        self._answer = asyncio.get_running_loop().create_future()
        if self._ended.done():
            self._answer.set_exception(Closed("closed before the request"))
        else:
            self._transport.write("\r\n".join(lines).encode() + content)
        return self._answer

    def close(self) -> None:
        super().close()
        if self._answer is not None:
            self._answer.cancel()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def send_raw(self, data: bytes) -> None:
        self._transport.write(data)

    async def request(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        return await self.send(method, path, body, **headers)


def parse(buffer: bytes) -> tuple[Answer | None, int]:
    """The first answer in a buffer, None while it is incomplete; and its size, if known."""
    end = buffer.find(b"\r\n\r\n")
    if end < 0:
        return None, 0
    status_line, *lines = buffer[:end].decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    status = int(status_line.split(" ")[1])
    assert "transfer-encoding" not in headers, headers
    start = end + 4
    size = start + (0 if status == 204 else int(headers["content-length"]))
    if len(buffer) < size:
        return None, size
    return Answer(status, headers, buffer[start:size], time.monotonic()), size


def run(main: Coroutine[Any, Any, T], *, within_s: float) -> T:
    """Run a test's coroutine for a bounded time."""

    async def bounded() -> T:
        try:
            async with asyncio.timeout(within_s):
                return await main
        finally:
            await Wire.close_all()

    return asyncio.run(bounded())
