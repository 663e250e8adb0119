"""When the database does not keep up, or fails: codes, and nothing answered is lost."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.contract.answers import assert_refused
from tests.contract.calls import claim, consume, produce, receive
from tests.live import LiveServer, live_server

MAX_BATCH_BODY = 64 * 1024 * 1024


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("troubled")) as running:
        yield running


@pytest.fixture
def api(troubled: LiveServer) -> Iterator[httpx.Client]:
    with troubled.client() as client:
        yield client


def database(server: LiveServer) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(server.database, timeout=10, isolation_level=None))


def test_a_full_backlog_is_refused_at_once_and_the_rest_is_written_later(
    troubled: LiveServer, api: httpx.Client, messages: str
) -> None:
    """Another process holds the write lock while more than a quarter of a gibibyte arrives."""

    def post(number: int) -> httpx.Response:
        body = b'{"messages":[{"content":"%d"}]}' % number
        return api.post(f"{messages}/batch", content=body.ljust(MAX_BATCH_BODY))

    with database(troubled) as db, ThreadPoolExecutor(5) as pool:
        db.execute("BEGIN IMMEDIATE")
        answers = {pool.submit(post, number): str(number) for number in range(5)}
        (refused,), stored = futures.wait(answers, 20, return_when=futures.FIRST_COMPLETED)
        assert_refused(refused.result(), 429, "overloaded")
        assert int(refused.result().headers["retry-after"]) >= 1
        db.execute("ROLLBACK")
        assert {each.result().status_code for each in stored} == {200}
    contents = {each["content"] for each in claim(api, messages, max=100)}
    assert contents == {answers[each] for each in stored}


def test_a_failing_database_is_an_internal_error_and_no_more(
    troubled: LiveServer, api: httpx.Client, messages: str
) -> None:
    produce(api, messages)
    with database(troubled) as db:
        db.execute("ALTER TABLE messages RENAME TO hidden")
        for response in (
            api.post(messages, json={"content": "a"}),
            api.post(f"{messages}/batch", json={"messages": [{"content": "a"}]}),
            api.get(messages, params={"waitMs": 0}),
            api.post(f"{messages}/claim", json={"waitMs": 0}),
        ):
            assert_refused(response, 500, "internal")
        assert_refused(api.get("/healthcheck"), 503, "forq.unhealthy")
        db.execute("ALTER TABLE hidden RENAME TO messages")
    assert api.get("/healthcheck").status_code == 204
    assert receive(api, messages).content == "content"
    assert consume(api, messages) is None


def test_a_write_lock_held_by_another_process_is_waited_for(
    troubled: LiveServer, api: httpx.Client, messages: str
) -> None:
    with database(troubled) as db, ThreadPoolExecutor(1) as pool:
        db.execute("BEGIN IMMEDIATE")
        produced = pool.submit(produce, api, messages)
        with pytest.raises(TimeoutError):
            produced.result(0.3)
        assert api.get("/healthcheck").status_code == 204
        db.execute("ROLLBACK")
        assert receive(api, messages, wait_ms=5_000).id == produced.result()
