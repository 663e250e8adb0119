"""The message operations over one raw connection."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tests.chaos.wire import Answer, Connection


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    content: str
    receipt: str
    attempts: int


class QueueClient:
    def __init__(self, connection: Connection, queue: str) -> None:
        self.connection = connection
        self.path = f"/api/v1/queues/{queue}/messages"

    @classmethod
    async def open(cls, port: int, queue: str, source: str = "127.0.0.1") -> QueueClient:
        return cls(await Connection.open(port, source), queue)

    def close(self) -> None:
        self.connection.close()

    async def produce(self, content: str) -> Answer:
        return await self.connection.request("POST", self.path, {"content": content})

    async def produce_batch(self, contents: list[str]) -> Answer:
        messages = [{"content": content} for content in contents]
        return await self.connection.request("POST", f"{self.path}/batch", {"messages": messages})

    def send_claim(
        self, most: int = 1, wait_ms: int = 0, visibility_ms: int = 60_000
    ) -> asyncio.Future[Answer]:
        wish = {"max": most, "waitMs": wait_ms, "visibilityMs": visibility_ms}
        return self.connection.send("POST", f"{self.path}/claim", wish)

    async def claim(
        self, most: int = 1, wait_ms: int = 0, visibility_ms: int = 60_000
    ) -> list[Message]:
        return messages(await self.send_claim(most, wait_ms, visibility_ms))

    async def ack(self, message: Message) -> Answer:
        path = f"{self.path}/{message.id}/ack"
        return await self.connection.request("POST", path, X_Forq_Receipt=message.receipt)

    async def ack_batch(self, claimed: list[Message]) -> Answer:
        items = [{"id": each.id, "receipt": each.receipt} for each in claimed]
        return await self.connection.request("POST", f"{self.path}/ack", {"messages": items})

    async def nack(self, message: Message, delay_ms: int = 0) -> Answer:
        path = f"{self.path}/{message.id}/nack"
        wish = {"delayMs": delay_ms}
        return await self.connection.request("POST", path, wish, X_Forq_Receipt=message.receipt)


def messages(answer: Answer) -> list[Message]:
    """What a claim's answer holds."""
    assert answer.status == 200, answer
    return [
        Message(each["id"], each["content"], each["receipt"], each["attempts"])
        for each in answer.json()["messages"]
    ]
