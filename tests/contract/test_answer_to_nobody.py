"""An application learns that its answer went nowhere, so that it can take messages back.

The moment between a client's leaving and the server's noticing is too short to be met from
outside; here the application itself has the client leave right before it answers.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from types import SimpleNamespace

import pytest
import uvloop
from gunicorn.config import Config

from forq.worker import ForqProtocol
from queues.api.wire import Application, Message, Receive, Scope, Send

REQUEST = b"GET / HTTP/1.1\r\nHost: forq\r\n\r\n"


async def serve_one(application: Application, client: socket.socket) -> None:
    """Have one request of a client's answered by an application, on a real connection."""
    loop = asyncio.get_running_loop()
    served: asyncio.Future[None] = loop.create_future()

    async def watched(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await application(scope, receive, send)
        except Exception as error:
            served.set_exception(error)
            raise
        served.set_result(None)

    worker = SimpleNamespace(
        cfg=Config(),
        log=logging.getLogger("tests.worker"),
        asgi=watched,
        loop=loop,
        connections=set(),
        alive=True,
        nr=0,
        nr_conns=0,
        max_requests=1_000_000,
    )
    server = await loop.create_server(lambda: ForqProtocol(worker), "127.0.0.1", 0)
    try:
        client.connect(server.sockets[0].getsockname())
        client.sendall(REQUEST)
        async with asyncio.timeout(10):
            await served
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("turns", range(8))
def test_an_answer_that_could_not_be_written(turns: int) -> None:
    """Whatever the event loop knows by then: an application either sees it or is told."""
    client = socket.socket()
    start: Message = {"type": "http.response.start", "status": 200, "headers": []}

    async def answer_nobody(scope: Scope, receive: Receive, send: Send) -> None:
        client.close()
        for _ in range(turns):
            await asyncio.sleep(0)
        if scope["forq.closed"]():
            raise ConnectionResetError
        await send(start)
        # A small one would be in the system's hands before the first sign that nobody is there.
        await send({"type": "http.response.body", "body": b"a" * 20_000_000})

    with pytest.raises(ConnectionResetError):
        uvloop.run(serve_one(answer_nobody, client))


def test_an_answer_that_was_written() -> None:
    client = socket.socket()
    start: Message = {"type": "http.response.start", "status": 200, "headers": []}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send(start)
        await send({"type": "http.response.body", "body": b"an answer"})

    uvloop.run(serve_one(answer, client))
    assert client.recv(10_000).endswith(b"\r\n\r\nan answer")
    client.close()
