from __future__ import annotations

import uuid
from collections.abc import Iterator

import httpx
import pytest

from tests.live import LiveServer, live_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One API server for all tests that only talk to it; they use queues of their own."""
    with live_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def api(server: LiveServer) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def queue() -> str:
    return f"q-{uuid.uuid4()}"


@pytest.fixture
def messages(queue: str) -> str:
    """The path of a fresh queue's messages."""
    return f"/api/v1/queues/{queue}/messages"
