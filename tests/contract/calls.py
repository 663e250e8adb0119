"""The message operations as one would call them, for tests that need them done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import httpx


class Delivery(NamedTuple):
    id: str
    content: str
    receipt: str


def produce(api: httpx.Client, messages: str, content: str = "content", **fields: object) -> str:
    """Send a message; returns its id."""
    response = api.post(messages, json={"content": content, **fields})
    assert response.status_code == 204, response.text
    return response.headers["x-forq-message-id"]


def consume(api: httpx.Client, messages: str, wait_ms: int = 0) -> Delivery | None:
    response = api.get(messages, params={"waitMs": wait_ms})
    if response.status_code == 204:
        return None
    assert response.status_code == 200, response.text
    return Delivery(**response.json())


def receive(api: httpx.Client, messages: str, wait_ms: int = 0) -> Delivery:
    """Consume a message that has to be there."""
    delivery = consume(api, messages, wait_ms)
    assert delivery is not None
    return delivery


def claim(api: httpx.Client, messages: str, wait_ms: int = 0, **wish: int) -> list[dict[str, Any]]:
    response = api.post(f"{messages}/claim", json={"waitMs": wait_ms, **wish})
    assert response.status_code == 200, response.text
    (claimed,) = response.json().values()
    assert isinstance(claimed, list)
    return claimed


def settle(
    api: httpx.Client,
    messages: str,
    verb: str,
    message_id: str,
    receipt: str | None,
    **body: object,
) -> httpx.Response:
    """Ack, nack or extend one message; no body unless there is something to say."""
    headers = {} if receipt is None else {"X-Forq-Receipt": receipt}
    path = f"{messages}/{message_id}/{verb}"
    return api.post(path, headers=headers, **({"json": body} if body else {}))  # type: ignore[arg-type]  # one keyword argument or none


def settle_batch(
    api: httpx.Client, messages: str, verb: str, *items: Mapping[str, object]
) -> httpx.Response:
    return api.post(f"{messages}/{verb}", json={"messages": items})


def renew(api: httpx.Client, messages: str, held: Delivery) -> Delivery:
    """Have a message delivered once more, so that the receipt held so far is an old one."""
    assert settle(api, messages, "nack", held.id, held.receipt, delayMs=0).status_code == 204
    again = receive(api, messages)
    assert again.id == held.id
    assert again.receipt != held.receipt
    return again
