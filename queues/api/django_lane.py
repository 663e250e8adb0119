"""Django without the stock handler's detours through threads, for all that is not hot."""

from __future__ import annotations

from io import BytesIO

from asgiref.sync import markcoroutinefunction
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponseBase

from queues.api.wire import Receive, Scope, Send, read_body


class DjangoLane(BaseHandler):
    """The stock ASGIHandler hops to a thread for the body, the signals and the closing."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware(is_async=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(receive, scope["headers"])
        request = ASGIRequest(scope, BytesIO(body))
        response = await self.get_response_async(request)
        await _send(send, response)


async def _send(send: Send, response: HttpResponseBase) -> None:
    headers = [
        (name.lower().encode("ascii"), value.encode("latin-1")) for name, value in response.items()
    ]
    body = b"" if response.streaming else response.content  # type: ignore[attr-defined]
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body})
    response.close()


markcoroutinefunction(DjangoLane.__call__)
