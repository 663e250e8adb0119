"""Wrong paths and methods anywhere on the port: a code in JSON, never anything else."""

from __future__ import annotations

import httpx
import pytest

from tests.contract.answers import assert_refused

ID = "0199164b-4dea-78d9-9b4c-c699d5037962"
POSTS = [
    "/messages/batch",
    "/messages/claim",
    "/messages/ack",
    "/messages/nack",
    "/messages/extend",
    f"/messages/{ID}/ack",
    f"/messages/{ID}/nack",
    f"/messages/{ID}/extend",
    "/messages/not-an-id/ack",
]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/index.html",
        "/favicon.ico",
        "/robots.txt",
        "/healthcheck/",
        "/healthcheck/deeper",
        "/HEALTHCHECK",
        "/health",
        "/metrics",
        "/admin/",
        "/static/app.css",
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/v2/queues/q/messages",
        "/api/v1/queues/q/messages/",
        "/api/v1/queues/q/messages/batch/",
        "/api/v1/queues/q/messages/a/b/c",
        "/api/v1/queues/q/messages//batch",
        f"/api/v1/queues/q/messages/{ID}/ack/",
        f"/api/v1/queues/q/messages/{ID}/ACK",
        f"/api/v1/queues/q/messages/{ID}/steal",
        "/api/v1/queues/q/message",
        "/api/v1/queues/q/Messages",
        "/api/v1/queues/q/messages/CLAIM",
        "/api/v1/Queues/q/messages",
        "/api/v1//queues/q/messages",
        "//api/v1/queues/q/messages",
        "/api/docs/",
        "/api/openapi.yaml",
        "/%",
        "/%zz",
        "/%00",
        "/%ff",
        "/%0d%0aX-Injected:%20yes",
        "/%3Cscript%3Ealert(1)%3C/script%3E",
        "/é😀",
        "/healthcheck;a=b",
        "/" + "a" * 4000,
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_an_unknown_path(api: httpx.Client, method: str, path: str) -> None:
    assert_refused(api.request(method, path), 404, "not_found.path")


def test_an_unknown_path_with_a_body_keeps_the_connection_in_step(api: httpx.Client) -> None:
    for _ in range(3):
        response = api.post("/nothing", content=b"GET /healthcheck HTTP/1.1\r\n\r\n" * 100)
        assert_refused(response, 404, "not_found.path")
        assert api.get("/healthcheck").status_code == 204


@pytest.mark.parametrize(
    "method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "HEAD", "FROB", "PROPFIND", "GETT"]
)
@pytest.mark.parametrize("call", ["/messages", *POSTS])
def test_a_wrong_method(api: httpx.Client, queue: str, call: str, method: str) -> None:
    response = api.request(method, f"/api/v1/queues/{queue}{call}")
    if method == "HEAD":
        assert (response.status_code, response.content) == (405, b"")
    else:
        assert_refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == ("GET, POST" if call == "/messages" else "POST")


@pytest.mark.parametrize("call", POSTS)
def test_what_changes_something_is_not_to_be_had_with_get(
    api: httpx.Client, queue: str, call: str
) -> None:
    response = api.get(f"/api/v1/queues/{queue}{call}")
    assert_refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "FROB"])
@pytest.mark.parametrize("path", ["/healthcheck", "/api/docs", "/api/openapi.json"])
def test_a_wrong_method_elsewhere(api: httpx.Client, path: str, method: str) -> None:
    response = api.request(method, path)
    assert_refused(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "GET, HEAD"


def test_the_method_is_not_to_be_had_by_a_header(api: httpx.Client, messages: str) -> None:
    headers = {"X-HTTP-Method-Override": "DELETE", "X-Method-Override": "DELETE"}
    assert api.get(messages, params={"waitMs": 0}, headers=headers).status_code == 204


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*;q=0"])
def test_errors_are_json_whatever_the_client_accepts(api: httpx.Client, accept: str) -> None:
    for path in ("/nothing", "/api/nothing", "/api/v1/queues/%20/messages?waitMs=0"):
        response = api.get(path, headers={"Accept": accept})
        assert response.headers["content-type"] == "application/json"
        assert list(response.json()) == ["code"]
