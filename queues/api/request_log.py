"""A line per request, for those who ask for it with FORQ_LOG_LEVEL=debug."""

from __future__ import annotations

import time
from typing import Final

import structlog
import uuid6

from queues.api.wire import Application, Message, Receive, Scope, Send

# What a client may name its request; anything else is not repeated in a log.
_LONGEST: Final = 128

log = structlog.get_logger("forq.requests")


def request_id(scope: Scope) -> str:
    """The client's own name for its request, if it gave one, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            text: str = value.decode("latin-1")
            if len(text) <= _LONGEST and text.isascii() and text.isprintable():
                return text
    return str(uuid6.uuid7())


class RequestLog:
    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        status = 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id(scope)):
            await self._application(scope, receive, note)
            log.debug(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round((time.perf_counter() - started) * 1000, 2),
            )
