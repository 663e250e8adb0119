"""The message operations of the contract, one function each: from a request to its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from queues import ids, limits, receipts
from queues.api import schemas
from queues.api.request import Request, default, given, parse_id, parse_receipt
from queues.api.wire import send_json, send_nothing
from queues.engine.waiting import Waiter
from queues.errors import ForqError
from queues.services.messages import MessageService
from queues.store.operations import Claimed, NewMessage, Prolonged, Rejected, Settled

_NDJSON: Final = b"application/x-ndjson"


class MessageOperations:
    def __init__(self, messages: MessageService) -> None:
        self._messages = messages

    async def produce(self, request: Request) -> None:
        body = await request.body()
        message = new_message(schemas.PRODUCE.decode(body))
        produced = await self._messages.produce(request.queue, [message], len(body))
        headers = [(b"x-forq-message-id", ids.to_text(produced.ids[0]).encode())]
        if produced.duplicates:
            headers.append((b"x-forq-duplicate", b"true"))
        await send_nothing(request.send, headers)

    async def produce_batch(self, request: Request) -> None:
        body = await request.body(batch=True)
        content_type = request.header(b"content-type") or b""
        if content_type.partition(b";")[0].strip().lower() == _NDJSON:
            bodies = ndjson(body)
        else:
            bodies = schemas.PRODUCE_BATCH.decode(body).messages
        messages = [new_message(each) for each in bodies]
        produced = await self._messages.produce(request.queue, messages, len(body))
        await send_json(request.send, schemas.Ids([ids.to_text(each) for each in produced.ids]))

    async def consume(self, request: Request) -> None:
        wait_ms = request.wait_ms()
        messages = await self._receive(request, limit=1, wait_ms=wait_ms, visibility_ms=None)
        if not messages:
            await send_nothing(request.send)
            return
        (message,) = messages
        answer = schemas.ConsumedMessage(
            ids.to_text(message.id), message.content, receipts.to_text(message.receipt)
        )
        await self._deliver(request, messages, answer)

    async def claim(self, request: Request) -> None:
        wish = schemas.CLAIM.decode(await request.body() or b"{}")
        messages = await self._receive(
            request,
            limit=default(wish.max, 1),
            wait_ms=default(wish.waitMs, limits.MAX_WAIT_MS),
            visibility_ms=given(wish.visibilityMs),
        )
        answer = schemas.ClaimedMessages(
            [
                schemas.ClaimedMessage(
                    ids.to_text(message.id),
                    message.content,
                    receipts.to_text(message.receipt),
                    message.attempts,
                    message.priority,
                    ids.received_at(message.id),
                )
                for message in messages
            ]
        )
        await self._deliver(request, messages, answer)

    async def _receive(
        self, request: Request, *, limit: int, wait_ms: int, visibility_ms: int | None
    ) -> list[Claimed]:
        """Wait for messages, but not for a client that goes away meanwhile."""
        watcher: asyncio.Task[None] | None = None

        # May be called before the claim below has returned.
        def watch(waiter: Waiter) -> None:
            nonlocal watcher
            watcher = asyncio.create_task(self._leave_with_client(request, waiter))

        waiter = self._messages.claim(
            request.queue,
            limit=limit,
            wait_ms=wait_ms,
            visibility_ms=visibility_ms,
            on_wait=watch,
        )
        try:
            return await waiter.future
        except asyncio.CancelledError:
            self._messages.leave(waiter)
            # The messages may have come in this very moment.
            if not waiter.future.cancelled() and waiter.future.exception() is None:
                self._messages.release(request.queue, waiter.future.result())
            raise
        finally:
            if watcher is not None:
                watcher.cancel()

    async def _leave_with_client(self, request: Request, waiter: Waiter) -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self._messages.leave(waiter)

    async def _deliver(self, request: Request, messages: list[Claimed], answer: object) -> None:
        """Send what was claimed; a client that is gone by now must not keep it."""
        if request.gone:
            self._messages.release(request.queue, messages)
            return
        try:
            await send_json(request.send, answer)
        except OSError:
            self._messages.release(request.queue, messages)
            raise

    async def ack(self, request: Request) -> None:
        message_id, receipt = request.id(), request.receipt()
        (done,) = await self._messages.ack(request.queue, [Settled(message_id, receipt)])
        if receipt is not None and not done:
            raise ForqError("not_found.message")
        await send_nothing(request.send)

    async def nack(self, request: Request) -> None:
        message_id, receipt = request.id(), request.receipt()
        wish = schemas.NACK.decode(await request.body() or b"{}")
        rejected = Rejected(message_id, receipt, given(wish.delayMs), given(wish.reason))
        (done,) = await self._messages.nack(request.queue, [rejected])
        if not done:
            raise ForqError("not_found.message")
        await send_nothing(request.send)

    async def extend(self, request: Request) -> None:
        message_id, receipt = request.id(), request.receipt()
        if receipt is None:
            raise ForqError("bad_request.receipt.invalid")
        wish = schemas.EXTEND.decode(await request.body())
        prolonged = Prolonged(message_id, receipt, wish.visibilityMs)
        (done,) = await self._messages.extend(request.queue, [prolonged])
        if not done:
            raise ForqError("not_found.message")
        await send_nothing(request.send)

    async def ack_batch(self, request: Request) -> None:
        items = schemas.ACK_BATCH.decode(await request.body(batch=True)).messages
        settled = [Settled(parse_id(item.id), parse_receipt(item.receipt)) for item in items]
        done = await self._messages.ack(request.queue, settled)
        await send_json(request.send, settlement([item.id for item in items], done))

    async def nack_batch(self, request: Request) -> None:
        items = schemas.NACK_BATCH.decode(await request.body(batch=True)).messages
        rejected = [
            Rejected(
                parse_id(item.id),
                parse_receipt(item.receipt),
                given(item.delayMs),
                given(item.reason),
            )
            for item in items
        ]
        done = await self._messages.nack(request.queue, rejected)
        await send_json(request.send, settlement([item.id for item in items], done))

    async def extend_batch(self, request: Request) -> None:
        items = schemas.EXTEND_BATCH.decode(await request.body(batch=True)).messages
        prolonged = [
            Prolonged(parse_id(item.id), parse_receipt(item.receipt), item.visibilityMs)
            for item in items
        ]
        done = await self._messages.extend(request.queue, prolonged)
        await send_json(request.send, settlement([item.id for item in items], done))


def new_message(body: schemas.ProduceBody) -> NewMessage:
    return NewMessage(
        body.content,
        default(body.processAfter, 0),
        default(body.priority, 0),
        given(body.dedupKey),
    )


def ndjson(body: bytes) -> list[schemas.ProduceBody]:
    """One message a line; a line break after the last one is fine, an empty line is not."""
    # No more than needed to see that there are too many: a body can be nothing but line breaks.
    lines = body.split(b"\n", limits.MAX_BATCH + 1)
    if not lines[-1]:
        lines.pop()
    if not 1 <= len(lines) <= limits.MAX_BATCH:
        raise ForqError("bad_request.body.invalid")
    return [schemas.PRODUCE.decode(line) for line in lines]


def settlement(message_ids: list[str], done: Sequence[bool]) -> schemas.Settlement:
    answer = schemas.Settlement([], [])
    for message_id, each in zip(message_ids, done, strict=True):
        (answer.done if each else answer.missed).append(message_id)
    return answer
