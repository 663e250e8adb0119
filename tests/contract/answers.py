"""What an answer has to look like, down to the last field."""

from __future__ import annotations

import httpx


def assert_refused(response: httpx.Response, status: int, code: str) -> None:
    """The error has this status and, in JSON, its code and nothing else."""
    assert (response.status_code, response.text) == (status, f'{{"code":"{code}"}}')
    assert response.headers["content-type"] == "application/json"


def assert_invalid_body(response: httpx.Response) -> None:
    assert_refused(response, 400, "bad_request.body.invalid")


def assert_no_content(response: httpx.Response) -> None:
    assert (response.status_code, response.content) == (204, b"")
    assert "content-type" not in response.headers


def assert_settled(
    response: httpx.Response, done: list[str] | None = None, missed: list[str] | None = None
) -> None:
    """A batch was carried out; the ids in this order and nothing else."""
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {"done": done or [], "missed": missed or []}
