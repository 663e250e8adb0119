"""An HTTP/2 client that can do what no library offers: leave a stream, or send nonsense."""

from __future__ import annotations

import contextlib
import socket
from collections import defaultdict

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import StreamClosedError

from tests.contract.wire import PATIENCE_S, Answer
from tests.live import SECRET, LiveServer


class NoAnswer(Exception):
    """The server ended the stream or the connection instead."""


class Frames:
    def __init__(self, server: LiveServer) -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
        # What is sent must be on its way, also a small frame, when the next line of a test runs.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Refuses nothing that a test may want to send.
        self.connection = H2Connection(
            H2Configuration(
                client_side=True,
                header_encoding="utf-8",
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self.terminated = False
        self._events: dict[int, list[Event]] = defaultdict(list)
        self.connection.initiate_connection()
        self.flush()

    def flush(self) -> None:
        self.socket.sendall(self.connection.data_to_send())

    def ask(
        self,
        method: str,
        path: str,
        *headers: tuple[str, str],
        body: bytes | None = b"",
        key: str = SECRET,
    ) -> int:
        """Open a stream; a body of None is one that is still to come."""
        stream_id = self.connection.get_next_available_stream_id()
        pseudo = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "forq")]
        all_headers = [*pseudo, ("x-api-key", key), *headers]
        self.connection.send_headers(stream_id, all_headers, end_stream=body == b"")
        if body:
            self.connection.send_data(stream_id, body, end_stream=True)
        self.flush()
        return stream_id

    def pour(self, stream_id: int, data: bytes) -> None:
        """Send data as far as the server lets it in."""
        while data and not self._has(stream_id, StreamEnded):
            room = min(
                self.connection.local_flow_control_window(stream_id),
                self.connection.max_outbound_frame_size,
            )
            if room > 0:
                self.connection.send_data(stream_id, data[:room])
                data = data[room:]
                self.flush()
            elif not self.receive():
                raise NoAnswer

    def was_reset(self, stream_id: int) -> bool:
        return self._has(stream_id, StreamReset)

    def answer(self, stream_id: int) -> Answer:
        while not self._has(stream_id, StreamEnded):
            if self._has(stream_id, StreamReset) or not self.receive():
                raise NoAnswer
        headers: dict[str, str] = {}
        body = b""
        for event in self._events[stream_id]:
            if isinstance(event, ResponseReceived):
                headers = {str(name): str(value) for name, value in event.headers}
            elif isinstance(event, DataReceived):
                body += event.data
        return Answer(int(headers.pop(":status")), headers, body)

    def await_answer(self, stream_id: int) -> None:
        """Wait until an answer begins, and take in no more of it than came with its beginning."""
        while not self._has(stream_id, ResponseReceived):
            assert self.receive()

    def _has(self, stream_id: int, kind: type[Event]) -> bool:
        return any(isinstance(event, kind) for event in self._events[stream_id])

    def receive(self) -> bool:
        """Take in what the server sends next; False when it has closed the connection."""
        data = self.socket.recv(65536)
        if not data or self.terminated:
            return bool(data)
        for event in self.connection.receive_data(data):
            stream_id = getattr(event, "stream_id", None)
            if isinstance(event, ConnectionTerminated):
                self.terminated = True
                return True
            if stream_id:
                self._events[stream_id].append(event)
            if isinstance(event, DataReceived):
                self._acknowledge(event)
        self.flush()
        return True

    def _acknowledge(self, event: DataReceived) -> None:
        # A stream that was left may still be answered.
        with contextlib.suppress(StreamClosedError):
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def leave(self, stream_id: int) -> None:
        """Say that the answer to a request is no longer wanted."""
        self.connection.reset_stream(stream_id, error_code=8)
        self.flush()

    def ended(self) -> bool:
        """Wait for the server to close the connection."""
        with contextlib.suppress(ConnectionResetError):
            while self.receive():
                pass
        return True

    def close(self) -> None:
        self.socket.close()
