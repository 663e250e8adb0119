"""gunicorn's ASGI worker with the few things an API of ours needs otherwise."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from gunicorn.asgi.protocol import ASGIProtocol, ClientDisconnected
from gunicorn.http2.errors import HTTP2ConnectionError
from gunicorn.workers import gasgi

from forq.answer import Answer
from queues.api.wire import Application, Message, Receive, Scope, Send

if TYPE_CHECKING:
    from gunicorn.asgi.parser import CallbackRequest
    from gunicorn.http2.request import HTTP2Request

# A connection has to say something within this time.
FIRST_REQUEST_S: Final = 15.0
# What may arrive and make no sense yet: the head of a request, the first line of a chunk. The C
# parser sets no bound of its own, and looks at all of it again whenever more arrives.
UNCLEAR_BYTES: Final = 64 * 1024
# An HTTP/2 request that was answered before its end has this long to end.
REQUEST_END_S: Final = 1.0
# Once told to stop, requests that are still being sent and answers that are still being read
# have this long; gunicorn kills a worker that takes as long as GRACEFUL_S in forq/serving.py.
LAST_ANSWERS_S: Final = 5.0
Peer = tuple[str, int] | None


class ForqProtocol(ASGIProtocol):
    _body_receiver: Any
    _callback_parser: Any
    cut_off = False
    """The connection was lost inside an answer."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._unclear = 0
        super().connection_made(transport)
        self.worker.connections.add(self)
        self._first_request = self.worker.loop.call_later(FIRST_REQUEST_S, self._drop_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        self._first_request.cancel()
        self.worker.connections.discard(self)
        flow = self._flow_control
        if flow is not None and flow.write_paused:
            # Somebody waits for an answer to be taken that will not be.
            self.cut_off = True
            flow.resume_writing()
        super().connection_lost(exc)
        if self._request_ready is not None:
            # Ends the connection's task now; gunicorn would, three seconds later.
            self._request_ready.set()

    async def _handle_connection(self) -> None:
        try:
            await super()._handle_connection()
        finally:
            # Both point back here: it would take the collector to notice that all this is over.
            self._callback_parser = self._body_receiver = None

    def _drop_silent(self) -> None:
        """gunicorn waits for ever for the first request's headers."""
        undecided = self.req_count == 0
        waiting = self._awaiting_request and self.req_count == 1
        if self.reader is None and (undecided or waiting):
            self._close_transport()

    def data_received(self, data: bytes) -> None:
        self._unclear += len(data)
        super().data_received(data)
        if self._unclear > UNCLEAR_BYTES and self._in_the_dark():
            self._send_error_response(HTTPStatus.BAD_REQUEST, "")
            self._close_transport()

    def _in_the_dark(self) -> bool:
        request = self._current_request
        if self.reader is not None or self._closed:
            return False
        return request is None or (request.chunked and not self._body_receiver._complete)

    def _on_body(self, chunk: bytes) -> None:
        self._unclear = 0
        super()._on_body(chunk)

    def _handle_h1c_exception(self, exc: Exception) -> bool:
        """Also a number too long to be one is a bad request: gunicorn's own parser lets it pass."""
        if not super()._handle_h1c_exception(exc):
            if not isinstance(exc, ValueError):
                return False
            self._send_error_response(HTTPStatus.BAD_REQUEST, "")
            self._close_transport()
        return True

    def close_if_idle(self) -> None:
        # Before the first byte gunicorn waits to see whether HTTP/2 is spoken.
        said_nothing = self._h2c_buffer == b""
        if said_nothing or (self._awaiting_request and self._current_request is None):
            self._close_transport()

    def abort(self) -> None:
        self.transport.abort()

    async def _serve_http_request(
        self, request: CallbackRequest, sockname: Peer, peername: Peer
    ) -> bool:
        """gunicorn's way, without a task for each request and for one whole answer only."""
        self._unclear = 0
        receiver = self._body_receiver
        answer = Answer(self, request)
        scope = self._build_http_scope(request, sockname, peername)
        try:
            await self.app(scope, receiver.receive, answer.send)
        except (asyncio.CancelledError, ConnectionResetError):
            return False
        except Exception:
            self.log.exception("Error in ASGI application")
        if not answer.complete:
            self._send_error_response(HTTPStatus.INTERNAL_SERVER_ERROR, "")
        return answer.keep_alive

    async def _handle_http2_connection(self, *args: Any, **kwargs: Any) -> None:
        self.app: Any = _with_asgi_losses(self.worker.asgi, self.transport)
        await super()._handle_http2_connection(*args, **kwargs)

    async def _handle_http2_request(
        self, request: HTTP2Request, connection: Any, sockname: Peer, peername: Peer
    ) -> None:
        """gunicorn then resets a stream whose request has not ended.

        A client that is just about to end it would take that for a failure.
        """
        await super()._handle_http2_request(request, connection, sockname, peername)
        stream = request.stream
        if stream.body_complete:
            return
        arrived = stream._body_event = stream._body_event or asyncio.Event()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REQUEST_END_S):
                while not (stream.body_complete or stream.disconnected):
                    arrived.clear()
                    await arrived.wait()

    def _build_http_scope(
        self, request: CallbackRequest, sockname: Peer, peername: Peer
    ) -> dict[str, Any]:
        scope: dict[str, Any] = super()._build_http_scope(request, sockname, peername)
        scope["forq.closed"] = self._is_closed
        return scope

    def _is_closed(self) -> bool:
        # The transport knows first; what is written to it from then on disappears.
        return bool(self._closed or self.transport.is_closing())

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


def _with_asgi_losses(application: Application, transport: asyncio.Transport) -> Application:
    """A connection that is lost while sending is an OSError in ASGI.

    Here it is an error of gunicorn's or of uvloop's, or none, and what was written disappears.
    """

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            try:
                await send(message)
            except (HTTP2ConnectionError, RuntimeError) as error:
                raise ClientDisconnected(str(error)) from error
            if transport.is_closing():
                raise ClientDisconnected("closed meanwhile")

        await application(scope, receive, sent)

    return served


# Looks for the C parser and remembers it on this very class; asked through a subclass, gunicorn
# would remember it there, look here, and take the slow parser.
ASGIProtocol._check_h1c_protocol_available()
# The worker looks the class up by this name.
gasgi.ASGIProtocol = ForqProtocol


class ForqWorker(gasgi.ASGIWorker):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.connections: set[ForqProtocol] = set()
        self._listens = False

    def notify(self) -> None:
        super().notify()
        if not self._listens:
            # asyncio has set each socket's backlog to its own default, 100; a burst of new
            # connections would wait a second for the next try.
            for listener in self.sockets:
                listener.sock.listen(self.cfg.backlog)
            self._listens = bool(self.servers)

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
        self.loop.call_later(LAST_ANSWERS_S, self._abort_rest)

    def _abort_rest(self) -> None:
        for connection in list(self.connections):
            connection.abort()

    async def _shutdown(self) -> None:
        # Also when it was not a signal: the parent is gone.
        self.handle_exit_signal()
        await super()._shutdown()

    def handle_quit_signal(self) -> None:
        self.handle_exit_signal()
