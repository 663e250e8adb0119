"""What is not a message operation: health, documentation, and the answers to wrong paths."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse

from queues.api.wire import encode
from queues.engine.engine import Engine
from queues.errors import ForqError, MethodNotAllowed
from queues.store.interface import StoreError

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def error_response(error: ForqError) -> HttpResponse:
    response = HttpResponse(
        encode({"code": error.code}), status=error.status, content_type="application/json"
    )
    for name, value in error.headers:
        response[name.decode()] = value.decode()
    return response


def methods(*allowed: str) -> Callable[[View], View]:
    """Only these methods; a ForqError becomes its answer."""

    def decorate(view: View) -> View:
        @wraps(view)
        async def checked(request: HttpRequest, **kwargs: str) -> HttpResponse:
            if request.method not in allowed:
                return error_response(MethodNotAllowed(allowed))
            try:
                return await view(request, **kwargs)
            except ForqError as error:
                return error_response(error)

        return checked

    return decorate


@methods("GET", "HEAD")
async def healthcheck(request: ASGIRequest) -> HttpResponse:
    engine: Engine = request.scope["state"]["engine"]
    try:
        await engine.ping()
    except StoreError as error:
        raise ForqError("forq.unhealthy") from error
    response = HttpResponse(status=204)
    # Django calls even nothing HTML.
    del response["Content-Type"]
    return response


def not_found(_request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(ForqError("not_found.path"))


def bad_request(_request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_response(ForqError("bad_request.body.invalid"))


def internal(_request: HttpRequest) -> HttpResponse:
    return error_response(ForqError("internal"))
