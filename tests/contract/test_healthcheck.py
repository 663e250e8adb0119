"""GET /healthcheck"""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.contract.answers import assert_no_content, assert_refused
from tests.live import LiveServer, live_server


def test_a_healthy_server_needs_no_key(server: LiveServer) -> None:
    assert_no_content(httpx.get(f"{server.url}/healthcheck"))
    assert_no_content(httpx.head(f"{server.url}/healthcheck"))
    assert_no_content(httpx.get(f"{server.url}/healthcheck?any=thing"))
    assert_no_content(httpx.get(f"{server.url}/healthcheck", headers={"X-API-Key": "wrong"}))


def test_a_server_whose_database_is_gone_says_so_until_it_is_back(tmp_path: Path) -> None:
    with live_server(tmp_path) as server, httpx.Client(base_url=server.url) as client:
        elsewhere = server.database.rename(tmp_path / "elsewhere.db")
        assert_refused(client.get("/healthcheck"), 503, "forq.unhealthy")
        server.database.write_bytes(b"another file of the same name")
        assert_refused(client.get("/healthcheck"), 503, "forq.unhealthy")
        elsewhere.rename(server.database)
        assert_no_content(client.get("/healthcheck"))
        server.database.unlink()
        assert_refused(client.get("/healthcheck"), 503, "forq.unhealthy")
