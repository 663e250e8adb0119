"""One request of the express lane, and what its parts mean."""

from __future__ import annotations

import re
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from msgspec import UnsetType

from queues import ids, limits, receipts
from queues.api.wire import Headers, Receive, Scope, Send, read_body
from queues.errors import ForqError

T = TypeVar("T")
_DIGITS: Final = re.compile(r"[0-9]{1,5}")


class Request:
    """What a handler needs to know of a request."""

    __slots__ = ("headers", "message_id", "queue", "receive", "scope", "send")

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, queue: str, message_id: str
    ) -> None:
        self.scope = scope
        self.headers: Headers = scope["headers"]
        self.receive = receive
        self.send = send
        self.queue = queue
        self.message_id = message_id

    def header(self, wanted: bytes) -> bytes | None:
        for name, value in self.headers:
            if name == wanted:
                return value
        return None

    async def body(self, *, batch: bool = False) -> bytes:
        return await read_body(self.receive, self.headers, batch=batch)

    def id(self) -> int:
        return parse_id(self.message_id)

    def receipt(self) -> int | None:
        header = self.header(b"x-forq-receipt")
        return None if header is None else parse_receipt(header.decode("latin-1"))

    @property
    def gone(self) -> bool:
        """Whether the connection is known to be closed."""
        closed = self.scope.get("forq.closed")
        return closed is not None and closed()

    def wait_ms(self) -> int:
        """The query's waitMs."""
        query: bytes = self.scope["query_string"]
        if not query:
            return limits.MAX_WAIT_MS
        try:
            ((name, value),) = parse_qsl(query.decode(), keep_blank_values=True)
        except ValueError:
            raise ForqError("bad_request.query.invalid") from None
        if name != "waitMs" or not _DIGITS.fullmatch(value) or int(value) > limits.MAX_WAIT_MS:
            raise ForqError("bad_request.query.invalid")
        return int(value)


def parse_id(text: str) -> int:
    message_id = ids.parse(text)
    if message_id is None:
        raise ForqError("bad_request.messageId.invalid")
    return message_id


def parse_receipt(text: str) -> int:
    receipt = receipts.parse(text)
    if receipt is None:
        raise ForqError("bad_request.receipt.invalid")
    return receipt


def given(value: T | UnsetType | None) -> T | None:
    """A field that is absent and one that is null mean the same."""
    return None if isinstance(value, UnsetType) else value


def default(value: T | UnsetType | None, otherwise: T) -> T:
    return otherwise if value is None or isinstance(value, UnsetType) else value
