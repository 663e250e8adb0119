"""The API process: the engine, the express lane and Django, put together."""

from __future__ import annotations

import gc
import os
from typing import Any

import django
import structlog
from django.conf import settings

from forq.config import Config
from queues.api.auth import Gate
from queues.api.django_lane import DjangoLane
from queues.api.express import Express
from queues.api.request_log import RequestLog
from queues.api.wire import Application, Receive, Scope, Send
from queues.engine.engine import Engine
from queues.rules import QueueRules
from queues.services.messages import MessageService
from queues.store.sqlite import SQLiteStore

log = structlog.get_logger("forq.api")


class Server:
    """ASGI: starts the engine with the server, hands requests to the express lane."""

    def __init__(self, config: Config) -> None:
        queue_rules = QueueRules(ttl_ms=config.queue_ttl_ms)
        dlq_rules = QueueRules(ttl_ms=config.dlq_ttl_ms)
        assert config.database.path is not None, "forq.database refuses all but SQLite"
        store = SQLiteStore(config.database.path, full=config.durability == "full")
        self.engine = Engine(store, rules=queue_rules)
        messages = MessageService(self.engine, queue_rules=queue_rules, dlq_rules=dlq_rules)
        gate = Gate(config.auth_secret, trust_proxy=config.trust_proxy_headers)
        self._http: Application = Express(messages, gate, DjangoLane())
        if config.log_level == "debug":
            self._http = RequestLog(self._http)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(scope["state"], receive, send)

    async def _live(self, state: dict[str, Any], receive: Receive, send: Send) -> None:
        await receive()
        try:
            self.engine.start()
        except Exception as error:
            log.exception("api.start_failed")
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        # What is here now stays: the collector need not look at it again and again.
        gc.collect()
        gc.freeze()
        # What an HTTP/2 connection leaves behind takes the collector to find: not too rarely.
        gc.set_threshold(20_000, 10, 10)
        state["engine"] = self.engine
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.engine.close()
        await send({"type": "lifespan.shutdown.complete"})


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forq.settings")
django.setup()
application = Server(settings.FORQ)
