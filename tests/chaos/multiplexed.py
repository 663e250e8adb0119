"""A light cleartext HTTP/2 client: prior knowledge, many requests at a time on one connection."""

from __future__ import annotations

import asyncio
import time

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset

from tests.chaos.wire import Answer, Closed, Wire


class Multiplexed(Wire):
    def __init__(self) -> None:
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._answers: dict[int, asyncio.Future[Answer]] = {}
        self._heads: dict[int, dict[str, str]] = {}
        self._bodies: dict[int, bytearray] = {}

    @classmethod
    async def open(cls, port: int) -> Multiplexed:
        _, connection = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._h2.initiate_connection()
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Closed(repr(exc)))

    def data_received(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            match event:
                case ResponseReceived():
                    self._heads[event.stream_id] = dict(event.headers)  # type: ignore[arg-type]
                case DataReceived():
                    self._bodies[event.stream_id] += event.data
                    self._h2.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id
                    )
                case StreamEnded():
                    self._finish(event.stream_id)
                case StreamReset():
                    self._answers.pop(event.stream_id).set_exception(Closed("reset"))
                case ConnectionTerminated():
                    self._transport.close()
        self._flush()

    def send(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> asyncio.Future[Answer]:
        stream_id = self._h2.get_next_available_stream_id()
        pseudo = {":method": method, ":scheme": "http", ":authority": "forq", ":path": path}
        self._h2.send_headers(stream_id, list((pseudo | headers).items()), end_stream=not body)
        if body:
            self._h2.send_data(stream_id, body, end_stream=True)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[stream_id] = answer
        self._bodies[stream_id] = bytearray()
        self._flush()
        return answer

    def _finish(self, stream_id: int) -> None:
        headers = self._heads.pop(stream_id)
        body = bytes(self._bodies.pop(stream_id))
        answer = Answer(int(headers[":status"]), headers, body, time.monotonic())
        self._answers.pop(stream_id).set_result(answer)

    def _flush(self) -> None:
        if data := self._h2.data_to_send():
            self._transport.write(data)
