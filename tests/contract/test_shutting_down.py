"""What a request gets that arrives after the engine has closed.

A running server answers or cuts off all its connections first, so that no client ever comes
this late; here the parts of one are put together without it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from queues.api.auth import Gate
from queues.api.express import Express
from queues.api.wire import Receive, Scope, Send
from queues.engine.engine import Engine
from queues.rules import QueueRules
from queues.services.messages import MessageService
from queues.store.sqlite import SQLiteStore
from tests.contract.answers import assert_refused
from tests.live import SECRET
from tests.queues.databases import make_sqlite

MESSAGES = "/api/v1/queues/q/messages"


async def nothing_else(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotImplementedError


def test_a_closed_engine_says_that_it_is_closed(tmp_path: Path) -> None:
    rules = QueueRules()
    item = {"id": "0199164b-4dea-78d9-9b4c-c699d5037962", "receipt": "4000000000000000"}

    async def ask() -> list[httpx.Response]:
        engine = Engine(SQLiteStore(make_sqlite(tmp_path / "forq.db"), full=False), rules=rules)
        engine.start()
        await engine.close()
        messages = MessageService(engine, queue_rules=rules, dlq_rules=rules)
        express = Express(messages, Gate(SECRET, trust_proxy=False), nothing_else)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(express),
            base_url="http://forq",
            headers={"X-API-Key": SECRET},
        ) as client:
            return [
                await client.post(MESSAGES, json={"content": "a"}),
                await client.post(f"{MESSAGES}/batch", json={"messages": [{"content": "a"}]}),
                await client.get(MESSAGES),
                await client.post(f"{MESSAGES}/claim"),
                await client.post(f"{MESSAGES}/{item['id']}/ack"),
                await client.post(f"{MESSAGES}/ack", json={"messages": [item]}),
            ]

    for response in asyncio.run(ask()):
        assert_refused(response, 503, "shutting_down")
