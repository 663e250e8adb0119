"""A client that says exactly what it is told, byte for byte."""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple

from tests.live import SECRET, LiveServer

PATIENCE_S = 20.0


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The error's code; the answer must hold nothing else."""
        assert self.headers["content-type"] == "application/json"
        (code,) = self.json().values()
        assert self.body == f'{{"code":"{code}"}}'.encode()
        assert isinstance(code, str)
        return code


class Wire:
    def __init__(self, server: LiveServer) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
        # What is sent must be on its way when the next line of a test runs.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._incoming = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def ask(self, method: str, target: str, *headers: str, body: bytes | None = None) -> None:
        """Send a well-formed request with the key."""
        self.send(request(method, target, *headers, body=body))

    def answer(self, *, bodiless: bool = False) -> Answer:
        version, status, *_ = self._incoming.readline().decode("ascii").split(" ", 2)
        assert version in {"HTTP/1.0", "HTTP/1.1"}
        headers: dict[str, str] = {}
        while (line := self._incoming.readline()) != b"\r\n":
            name, _, value = line.decode("latin-1").partition(":")
            assert name.lower() not in headers
            headers[name.lower()] = value.strip()
        assert "transfer-encoding" not in headers
        size = 0 if bodiless else int(headers.get("content-length", "0"))
        return Answer(int(status), headers, self._incoming.read(size))

    def read(self, size: int) -> bytes:
        return self._incoming.read(size)

    def rest(self) -> bytes:
        """All that comes until the server closes the connection."""
        try:
            return self._incoming.read()
        except ConnectionResetError:
            return b""

    def finish_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._incoming.close()
        self.socket.close()


def request(method: str, target: str, *headers: str, body: bytes | None = None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: forq", f"X-API-Key: {SECRET}", *headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")
