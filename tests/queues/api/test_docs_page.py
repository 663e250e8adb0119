"""The documentation for people: complete, self-contained, and its lines work when pasted."""

from __future__ import annotations

import os
import re
import subprocess
from html.parser import HTMLParser

import httpx
import pytest

from queues.api.openapi.document import document
from queues.api.openapi.operations import OPERATIONS
from queues.api.openapi.parts import Operation
from tests.live import SECRET, LiveServer


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.references: set[str] = set()
        self.text = ""
        self.blocks: list[str] = []
        self._in_block = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id" and value:
                self.ids.append(value)
            elif name in ("href", "src") and value:
                self.references.add(value)
        if tag == "pre":
            self._in_block = True
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._in_block = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_block:
            self.blocks[-1] += data


@pytest.fixture
def page(api: httpx.Client) -> Page:
    answer = api.get("/api/docs")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    return Page(answer.text)


def test_the_page_tells_of_every_operation(page: Page) -> None:
    for operation in OPERATIONS:
        assert operation.id in page.ids
        assert f"{operation.method} {operation.path}" in page.text
        assert operation.summary in page.text
        assert operation.description in page.text
        for parameter in operation.parameters:
            assert parameter.description in page.text


def test_the_page_tells_of_every_field_code_and_limit(page: Page) -> None:
    schemas = document()["components"]["schemas"]
    for schema in schemas.values():
        for field in schema["properties"].values():
            assert field.get("description", "") in page.text
    for code in schemas["Error"]["properties"]["code"]["enum"]:
        assert code in page.ids
    for limit in ("262,144 bytes", "366 days", "30 s", "64 MiB", "24 hours", "168 hours"):
        assert limit in page.text


def test_the_contents_lead_to_what_is_there(page: Page) -> None:
    anchors = {each[1:] for each in page.references if each.startswith("#")}

    assert len(page.ids) == len(set(page.ids))
    assert anchors <= set(page.ids)
    assert {operation.id for operation in OPERATIONS} <= anchors


def test_the_page_needs_nothing_from_elsewhere(page: Page, api: httpx.Client) -> None:
    style = api.get("/api/docs.css")

    assert {each for each in page.references if not each.startswith("#")} == {
        "docs.css",
        "openapi.json",
    }
    assert not page.tags & {"script", "style", "img", "iframe", "object"}
    assert not {name for name in page.attributes if name == "style" or name.startswith("on")}
    assert style.headers["Content-Type"] == "text/css; charset=utf-8"
    assert not re.search(r"url\(|@import|//", style.text)


def test_the_browser_is_told_to_load_nothing_from_elsewhere(api: httpx.Client) -> None:
    headers = api.get("/api/docs").headers

    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("path", ["/api/docs", "/api/docs.css"])
def test_a_browser_is_asked_for_the_key_as_a_password(server: LiveServer, path: str) -> None:
    url = f"{server.url}{path}"

    asked = httpx.get(url)
    assert asked.status_code == 401
    assert asked.headers["WWW-Authenticate"].startswith("Basic ")
    assert asked.json() == {"code": "unauthorized"}
    assert httpx.get(url, auth=("anyone", SECRET)).status_code == 200


def test_a_browser_may_ask_how_to_show_the_key_as_often_as_it_likes(server: LiveServer) -> None:
    answers = [httpx.get(f"{server.url}/api/docs").status_code for _ in range(8)]

    assert answers == [401] * 8


def test_a_browser_that_has_the_page_does_not_get_it_again(api: httpx.Client) -> None:
    for path in ("/api/docs", "/api/docs.css"):
        etag = api.get(path).headers["ETag"]
        again = api.get(path, headers={"If-None-Match": etag})
        assert (again.status_code, again.content) == (304, b"")


def test_there_is_a_line_to_paste_for_every_operation_and_body(page: Page) -> None:
    wanted = sum(len(each.body.contents) if each.body else 1 for each in OPERATIONS)

    assert len([block for block in page.blocks if "curl -i" in block]) == wanted


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_a_line_does_what_the_page_says_when_pasted(
    operation: Operation, server: LiveServer, api: httpx.Client, queue: str
) -> None:
    page = api.get("/api/docs").text
    article = page.partition(f'<article id="{operation.id}">')[2].partition("</article>")[0]
    lines = [block for block in Page(article).blocks if "curl -i" in block]
    assert lines
    for line in lines:
        messages = f"/api/v1/queues/{queue}/messages"
        api.post(messages, json={"content": "to be settled"})
        held = api.get(f"{messages}?waitMs=0").json()
        api.post(messages, json={"content": "to be taken"})

        done = subprocess.run(
            ["sh", "-c", line.replace("/mails/", f"/{queue}/")],
            env={
                "PATH": os.environ["PATH"],
                "FORQ": server.url,
                "FORQ_AUTH_SECRET": SECRET,
                "ID": held["id"],
                "RECEIPT": held["receipt"],
            },
            capture_output=True,
            text=True,
            check=True,
            timeout=20,
        )

        status = int(done.stdout.split(" ", 2)[1])
        assert status == operation.answers[0].status, done.stdout
