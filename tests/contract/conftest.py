from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import NamedTuple

import httpx
import pytest

from tests.contract.calls import Delivery, claim, produce, receive
from tests.contract.wire import Wire
from tests.live import LiveServer


@pytest.fixture(scope="session")
def api(server: LiveServer) -> Iterator[httpx.Client]:
    """One client for all: a new one per test would take longer than most of the tests."""
    with server.client() as client:
        yield client


@pytest.fixture
def connect(server: LiveServer) -> Iterator[Callable[[], Wire]]:
    """Opens connections to the server that close with the test."""
    wires: list[Wire] = []

    def open_one() -> Wire:
        wires.append(Wire(server))
        return wires[-1]

    yield open_one
    for wire in wires:
        wire.close()


@pytest.fixture
def wire(connect: Callable[[], Wire]) -> Wire:
    return connect()


class Lapsed(NamedTuple):
    """A message whose lease is over, with the receipt of that time."""

    messages: str
    id: str
    receipt: str


@pytest.fixture(scope="session")
def lapsed_leases(server: LiveServer) -> list[Lapsed]:
    """Leases for all the tests that need one to be over: one second of waiting for all."""
    lapsed = []
    with server.client() as api:
        for _ in range(10):
            messages = f"/api/v1/queues/q-{uuid.uuid4()}/messages"
            produce(api, messages)
            (held,) = claim(api, messages, visibilityMs=1000)
            lapsed.append(Lapsed(messages, held["id"], held["receipt"]))
        last = f"/api/v1/queues/q-{uuid.uuid4()}/messages"
        produce(api, last)
        claim(api, last, visibilityMs=1000)
        receive(api, last, wait_ms=10_000)
    return lapsed


@pytest.fixture
def lapsed(lapsed_leases: list[Lapsed]) -> Lapsed:
    return lapsed_leases.pop()


@pytest.fixture
def other_messages() -> str:
    """The path of another fresh queue's messages."""
    return f"/api/v1/queues/other-{uuid.uuid4()}/messages"


@pytest.fixture
def held(api: httpx.Client, messages: str) -> Delivery:
    """A message that a consumer is working on."""
    produce(api, messages)
    return receive(api, messages)
