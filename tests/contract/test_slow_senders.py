"""A request that does not arrive in a sane time frees its connection.

The server is the real one; only its patience is cut down, so that all the slow ones of this
file can be waited for together, in a few seconds.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest

from tests.contract.calls import consume, produce
from tests.contract.wire import Wire, request
from tests.live import LiveServer, live_server

# Python runs a module of this name before anything else. The heartbeat needs more than a second.
LESS_PATIENCE = """
import gunicorn.config
import forq.worker
import queues.api.wire

shorter = {"timeout": 5, "keepalive": 2}
plain_set = gunicorn.config.Config.set
gunicorn.config.Config.set = lambda config, name, value: plain_set(
    config, name, shorter.get(name, value)
)
forq.worker.FIRST_REQUEST_S = 1.5
queues.api.wire.BODY_PATIENCE_S = queues.api.wire.BATCH_BODY_PATIENCE_S = 1.0
"""
MESSAGES = "/api/v1/queues/slow/messages"
DRIPPING_S = 4.0

CHUNKED = "Transfer-Encoding: chunked"
SILENT = {
    "nothing": b"",
    "half a line": b"GET /healthch",
    "half a head": b"GET /healthcheck HTTP/1.1\r\nHost: forq\r\n",
    "half an HTTP/2 preface": b"PRI * HT",
    "nothing after a request": request("GET", "/healthcheck"),
    "half a head after a request": request("GET", "/healthcheck") + b"GET / HTTP/1.1\r\nHo",
    "no body for an upgrade": request(
        "POST",
        MESSAGES,
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
        "Content-Length: 10",
    ),
}
UNFINISHED = {
    "no body": request("POST", MESSAGES, "Content-Length: 10"),
    "half a body": request("POST", MESSAGES, "Content-Length: 10") + b"{",
    "half a batch": request("POST", f"{MESSAGES}/batch", "Content-Length: 10") + b"{",
    "half a claim": request("POST", f"{MESSAGES}/claim", "Content-Length: 10") + b"{",
    "no chunk": request("POST", MESSAGES, CHUNKED),
    "half a chunk": request("POST", MESSAGES, CHUNKED) + b"5\r\n{",
    "no last chunk": request("POST", MESSAGES, CHUNKED) + b"1\r\n{\r\n",
    "half a trailer": request("POST", MESSAGES, CHUNKED) + b"1\r\n{\r\n0\r\nX-Sum: ",
    "a body in Django's lane": request("POST", "/api/v1/nothing", "Content-Length: 10") + b"{",
}
# What is sent over and over: as long as the client likes, but for the server's patience.
DRIPPING = {
    "a head": (b"GET /healthcheck HTTP/1.1\r\n", b"A: a\r\n"),
    "an endless line": (b"GET /", b"a"),
    "a body": (request("POST", MESSAGES, "Content-Length: 1000"), b" "),
    "chunks": (request("POST", MESSAGES, CHUNKED), b"1\r\n \r\n"),
    "an endless chunk size": (request("POST", MESSAGES, CHUNKED), b"0"),
}


class Slow(NamedTuple):
    api: httpx.Client
    received: dict[str, bytes]
    """What each got before the server closed its connection."""
    took_s: float
    waiting: Wire
    """A consumer who waits, as it may."""


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("impatient")
    (folder / "sitecustomize.py").write_text(LESS_PATIENCE)
    path = filter(None, [str(folder), os.environ.get("PYTHONPATH")])
    with live_server(folder, PYTHONPATH=os.pathsep.join(path)) as running:
        yield running


@pytest.fixture(scope="module")
def slow(impatient: LiveServer) -> Iterator[Slow]:
    with contextlib.ExitStack() as stack:

        def connect(first: bytes) -> Wire:
            wire = stack.enter_context(contextlib.closing(Wire(impatient)))
            wire.send(first)
            return wire

        waiting = connect(request("GET", f"{MESSAGES}?waitMs=30000"))
        started = time.monotonic()
        wires = {name: connect(first) for name, first in {**SILENT, **UNFINISHED}.items()}
        drops = {name: connect(first) for name, (first, _) in DRIPPING.items()}
        while time.monotonic() < started + DRIPPING_S:
            for name, wire in drops.items():
                # After the server has closed, sending fails.
                with contextlib.suppress(ConnectionError):
                    wire.send(DRIPPING[name][1])
            time.sleep(0.1)
        received = {name: wire.rest() for name, wire in {**wires, **drops}.items()}
        took_s = time.monotonic() - started
        api = stack.enter_context(impatient.client())
        yield Slow(api, received, took_s, waiting)


@pytest.mark.timeout(60)
def test_all_of_them_are_gone_in_time(slow: Slow) -> None:
    # One who drips and is waited for would be left alone until five seconds after his last drop.
    assert slow.took_s < DRIPPING_S + 4


@pytest.mark.parametrize("name", SILENT)
def test_who_says_nothing_is_told_nothing(slow: Slow, name: str) -> None:
    received = slow.received[name]
    if "after a request" in name:
        assert received.startswith(b"HTTP/1.1 204 No Content\r\n")
        received = received.partition(b"\r\n\r\n")[2]
    assert received == b""


@pytest.mark.parametrize("name", UNFINISHED)
def test_who_sends_half_a_body_is_told_so(slow: Slow, name: str) -> None:
    received = slow.received[name]
    assert received.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert received.endswith(b'\r\n\r\n{"code":"bad_request.body.invalid"}')


@pytest.mark.parametrize("name", DRIPPING)
def test_who_drips_is_not_waited_for(slow: Slow, name: str) -> None:
    assert slow.received[name][:13] in {b"", b"HTTP/1.1 400 "}


def test_nothing_of_it_was_stored(slow: Slow) -> None:
    assert consume(slow.api, MESSAGES) is None


def test_who_waits_for_a_message_may(slow: Slow) -> None:
    message_id = produce(slow.api, MESSAGES)
    assert slow.waiting.answer().json()["id"] == message_id
