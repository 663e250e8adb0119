"""One answer on an HTTP/1 connection, written at once.

gunicorn's own sending is for any application: streams, trailers, headers that have to be checked.
Ours sends a status, headers of its own making and one whole body.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from gunicorn.asgi import protocol as gunicorn_protocol

if TYPE_CHECKING:
    from gunicorn.asgi.parser import CallbackRequest

    from forq.worker import ForqProtocol

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\nServer: forq\r\n".encode()
    for status in HTTPStatus
}


class Answer:
    __slots__ = ("_message", "_protocol", "_request", "complete", "keep_alive")

    def __init__(self, protocol: ForqProtocol, request: CallbackRequest) -> None:
        self._protocol = protocol
        self._request = request
        self.complete = False
        self.keep_alive = False

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self._message = message
            return
        protocol = self._protocol
        if protocol._closed:
            return
        status = self._message["status"]
        # With the rest of its body still to come, nobody can say where the next request begins;
        # nor where the parser had to drop some of what was sent ahead.
        self.keep_alive = (
            protocol._body_receiver._complete
            and not getattr(protocol._callback_parser, "remaining_truncated", False)
            and not protocol._will_close(self._request, response_requires_close=False)
        )
        parts = [_STATUS_LINES[status], gunicorn_protocol._get_cached_date_header()]
        for name, value in self._message["headers"]:
            parts += (name, b": ", value, b"\r\n")
        parts.append(b"\r\n" if self.keep_alive else b"Connection: close\r\n\r\n")
        if self._request.method != "HEAD" and status != HTTPStatus.NO_CONTENT:
            parts.append(message["body"])
        self.complete = True
        protocol._safe_write(b"".join(parts))
        if protocol._flow_control.write_paused:
            await protocol._flow_control.drain()
            if protocol.cut_off:
                raise ConnectionResetError
        elif protocol.transport.is_closing():
            # The client was gone already, and writing has failed without a word.
            raise ConnectionResetError
