"""Django without the stock handler's detours through threads, for all that is not hot."""

from __future__ import annotations

from http import HTTPStatus
from io import BytesIO

from asgiref.sync import markcoroutinefunction
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from queues.api.wire import Receive, Scope, Send, read_body


class DjangoLane(BaseHandler):
    """The stock ASGIHandler hops to a thread for the body, the signals and the closing."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware(is_async=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Where no key is asked for, nothing takes a body, and a stranger's is not read.
        keyed = scope["path"].startswith("/api/")
        body = await read_body(receive, scope["headers"]) if keyed else b""
        request = ASGIRequest(scope, BytesIO(body))
        response = await self.get_response_async(request)
        assert isinstance(response, HttpResponse), "nothing here streams"
        await _send(send, response)


async def _send(send: Send, response: HttpResponse) -> None:
    body = response.content
    if not body:
        # Django names HTML even for an answer without a body.
        del response["content-type"]
    headers = [
        (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()
    ]
    if response.status_code != HTTPStatus.NO_CONTENT:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    response.close()


markcoroutinefunction(DjangoLane.__call__)
