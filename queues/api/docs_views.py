"""The API's documentation: for programs, and for people."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.http import parse_etags

from queues.api.openapi.document import encoded
from queues.api.openapi.limits_table import limit_rows
from queues.api.openapi.page import page
from queues.api.views import methods

_HEADERS: Final = {
    # Behind a key, so not for shared caches; the ETag makes asking again cheap.
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
}
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
}


@methods("GET", "HEAD")
async def openapi(request: HttpRequest) -> HttpResponse:
    return _unless_known(request, encoded(), "application/json")


@methods("GET", "HEAD")
async def docs(request: HttpRequest) -> HttpResponse:
    response = _unless_known(request, _page(), "text/html; charset=utf-8")
    for name, value in _PAGE_HEADERS.items():
        response[name] = value
    return response


@methods("GET", "HEAD")
async def docs_style(request: HttpRequest) -> HttpResponse:
    return _unless_known(request, _style(), "text/css; charset=utf-8")


def _unless_known(request: HttpRequest, body: bytes, content_type: str) -> HttpResponse:
    """The whole answer, or 304 for a client that has it."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    known = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in known or etag in (each.removeprefix("W/") for each in known):
        response = HttpResponse(status=304)
        del response["Content-Type"]
    else:
        response = HttpResponse(body, content_type=content_type)
    for name, value in _HEADERS.items():
        response[name] = value
    response["ETag"] = etag
    return response


@cache
def _page() -> bytes:
    forq = settings.FORQ
    context = {**page(), "limits": limit_rows(forq.queue_ttl_ms, forq.dlq_ttl_ms)}
    return render_to_string("api/docs.html", context).encode()


@cache
def _style() -> bytes:
    """Where the file lies depends on whether this is a checkout or an installed copy."""
    found = finders.find("api/docs.css")
    assert isinstance(found, str)
    return Path(found).read_bytes()
