"""gunicorn's ASGI worker with the few things an API of ours needs otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from gunicorn.asgi.protocol import ASGIProtocol
from gunicorn.workers import gasgi

if TYPE_CHECKING:
    from gunicorn.asgi.parser import CallbackRequest

# A connection has to say something within this time.
FIRST_REQUEST_S: Final = 15.0
Peer = tuple[str, int] | None


class ForqProtocol(ASGIProtocol):
    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.worker.connections.add(self)
        self._first_request = self.worker.loop.call_later(FIRST_REQUEST_S, self._drop_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._first_request.cancel()
        self.worker.connections.discard(self)
        super().connection_lost(exc)

    def _drop_silent(self) -> None:
        """gunicorn waits for ever for the first request's headers."""
        if self._current_request is None and self.req_count <= 1 and self.reader is None:
            self._close_transport()

    def close_if_idle(self) -> None:
        if self._awaiting_request and self._current_request is None:
            self._close_transport()

    async def _serve_http_request(
        self, request: CallbackRequest, sockname: Peer, peername: Peer
    ) -> bool:
        # gunicorn runs the application in a task of its own, so that it may go on after the
        # answer; ours never does.
        keepalive: bool = await self._handle_http_request(request, sockname, peername)
        return keepalive

    def _build_http_scope(
        self, request: CallbackRequest, sockname: Peer, peername: Peer
    ) -> dict[str, Any]:
        scope: dict[str, Any] = super()._build_http_scope(request, sockname, peername)
        scope["forq.closed"] = self._is_closed
        return scope

    def _is_closed(self) -> bool:
        return bool(self._closed)

    def _is_websocket_upgrade(self, request: CallbackRequest) -> bool:
        return False

    def _send_error_response(
        self, status: int, message: str, extra_headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Requests that are not even HTTP get a code too."""
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
            status, code = 500, "internal"
        else:
            status, code = 400, "bad_request.body.invalid"
        body = f'{{"code":"{code}"}}'
        self._safe_write(
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            "Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
            f"{body}".encode()
        )


# Looks for the C parser and remembers it on this very class; asked through a subclass, gunicorn
# would remember it there, look here, and take the slow parser.
ASGIProtocol._check_h1c_protocol_available()
# The worker looks the class up by this name.
gasgi.ASGIProtocol = ForqProtocol


class ForqWorker(gasgi.ASGIWorker):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.connections: set[ForqProtocol] = set()

    def handle_exit_signal(self) -> None:
        """Stop accepting, answer what is under way, let nobody wait any longer."""
        if not self.alive:
            return
        super().handle_exit_signal()
        for server in self.servers:
            server.close()
        self.asgi.engine.drain()
        for connection in list(self.connections):
            connection.close_if_idle()

    def handle_quit_signal(self) -> None:
        self.handle_exit_signal()
