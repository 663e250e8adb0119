"""The express lane: the message operations, straight from ASGI to the services.

Django's request machinery costs more than all the rest of such a request, so these paths
go around it; everything else on the port goes on to Django. Auth is here, for both.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from queues.api.auth import Gate
from queues.api.message_operations import MessageOperations
from queues.api.request import Request
from queues.api.request_log import request_id
from queues.api.wire import Application, Receive, Scope, Send, send_error
from queues.errors import ForqError, MethodNotAllowed
from queues.services.messages import MessageService
from queues.store.interface import StoreBusy, StoreError

Handler = Callable[[Request], Awaitable[None]]

QUEUES: Final = "/api/v1/queues/"
# A browser cannot send X-API-Key by itself: these pages also take the key as a password.
BROWSER_PATHS: Final = frozenset({"/api/docs", "/api/docs.css", "/api/openapi.json"})

log = structlog.get_logger("forq.api")


class Express:
    def __init__(self, messages: MessageService, gate: Gate, others: Application) -> None:
        self._gate = gate
        self._others = others
        operations = MessageOperations(messages)
        # What follows the queue's name, an id left out → method → handler.
        self._routes: dict[tuple[str, ...], dict[str, Handler]] = {
            ("messages",): {"POST": operations.produce, "GET": operations.consume},
            ("messages", "batch"): {"POST": operations.produce_batch},
            ("messages", "claim"): {"POST": operations.claim},
            ("messages", "ack"): {"POST": operations.ack_batch},
            ("messages", "nack"): {"POST": operations.nack_batch},
            ("messages", "extend"): {"POST": operations.extend_batch},
            ("messages", "", "ack"): {"POST": operations.ack},
            ("messages", "", "nack"): {"POST": operations.nack},
            ("messages", "", "extend"): {"POST": operations.extend},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        try:
            if path.startswith("/api/"):
                self._gate.check(scope["headers"], scope["client"], basic=path in BROWSER_PATHS)
                if path.startswith(QUEUES):
                    queue, _, rest = path[len(QUEUES) :].partition("/")
                    handler, message_id = self._find(rest, scope["method"])
                    if handler is not None:
                        await handler(Request(scope, receive, send, queue, message_id))
                        return
            await self._others(scope, receive, send)
        except ForqError as error:
            await send_error(send, error)
        except OSError:
            # ASGI's word for a client that is gone; the server knows what to do.
            raise
        except StoreBusy:
            await send_error(send, ForqError("forq.unhealthy"))
        except StoreError:
            # The engine has logged it, once for all whom it concerns.
            await send_error(send, ForqError("internal"))
        except Exception:
            name = request_id(scope)
            log.exception("api.failed", request_id=name, method=scope["method"], path=path)
            headers = ((b"x-request-id", name.encode()),)
            await send_error(send, ForqError("internal", headers=headers))

    def _find(self, rest: str, method: str) -> tuple[Handler | None, str]:
        """The handler for what follows the queue's name, if it is ours, and the message's id."""
        steps = rest.split("/")
        message_id = ""
        if len(steps) == 3:
            message_id, steps[1] = steps[1], ""
        methods = self._routes.get(tuple(steps))
        if methods is None:
            return None, ""
        handler = methods.get(method)
        if handler is None:
            raise MethodNotAllowed(methods)
        return handler, message_id
