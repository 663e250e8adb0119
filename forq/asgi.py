"""The API process: the engine, the express lane and Django, put together."""

from __future__ import annotations

import os
from typing import Any

import django
import structlog
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forq.settings")
django.setup()

# Both read Django's settings when they are imported.
from forq.config import Config  # noqa: E402
from queues.api.auth import Gate  # noqa: E402
from queues.api.django_lane import DjangoLane  # noqa: E402
from queues.api.express import Express  # noqa: E402
from queues.api.wire import Receive, Scope, Send  # noqa: E402
from queues.engine.engine import Engine  # noqa: E402
from queues.rules import QueueRules  # noqa: E402
from queues.services.messages import MessageService  # noqa: E402
from queues.store.sqlite import SQLiteStore  # noqa: E402

log = structlog.get_logger("forq.api")


class Application:
    """ASGI: starts the engine with the server, hands requests to the express lane."""

    def __init__(self, config: Config) -> None:
        queue_rules = QueueRules(ttl_ms=config.queue_ttl_ms)
        dlq_rules = QueueRules(ttl_ms=config.dlq_ttl_ms)
        assert config.database.path is not None, "forq.database refuses all but SQLite"
        store = SQLiteStore(config.database.path, full=config.durability == "full")
        self.engine = Engine(store, rules=queue_rules)
        messages = MessageService(self.engine, queue_rules=queue_rules, dlq_rules=dlq_rules)
        gate = Gate(config.auth_secret, trust_proxy=config.trust_proxy_headers)
        self._express = Express(messages, gate, DjangoLane())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._express(scope, receive, send)
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
        state["engine"] = self.engine
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self.engine.close()
        await send({"type": "lifespan.shutdown.complete"})


application = Application(settings.FORQ)
