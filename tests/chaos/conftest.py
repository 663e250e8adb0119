from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live import LiveServer, live_server


@pytest.fixture(scope="session")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server with two API processes on one database."""
    with live_server(tmp_path_factory.mktemp("two"), FORQ_API_WORKERS="2") as running:
        yield running
