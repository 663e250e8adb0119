from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live import LiveServer, live_server


@pytest.fixture(scope="session")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server with two API processes on one database."""
    variables = {"FORQ_API_WORKERS": "2", "FORQ_DURABILITY": "normal"}
    with live_server(tmp_path_factory.mktemp("two"), **variables) as running:
        yield running
