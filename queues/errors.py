"""Every code a client can get, with its status, in one table."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final

STATUS_BY_CODE: Final = MappingProxyType(
    {
        "bad_request.body.invalid": 400,
        "bad_request.body.content.exceeds_limit": 400,
        "bad_request.body.processAfter.in_past": 400,
        "bad_request.body.processAfter.too_far": 400,
        "bad_request.queue.invalid_name": 400,
        "bad_request.queue.produce_to_dlq": 400,
        "bad_request.messageId.invalid": 400,
        "bad_request.receipt.invalid": 400,
        "bad_request.dlq_only_operation": 400,
        "bad_request.query.invalid": 400,
        "unauthorized": 401,
        "not_found.message": 404,
        "not_found.queue": 404,
        "not_found.path": 404,
        "method_not_allowed": 405,
        "too_many_requests": 429,
        "overloaded": 429,
        "queue_full": 429,
        "internal": 500,
        "forq.unhealthy": 503,
        "shutting_down": 503,
    }
)


class ForqError(Exception):
    """What the client asked for cannot be done; ``code`` says why."""

    def __init__(
        self,
        code: str,
        *,
        status: int | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        super().__init__(code)
        self.code = code
        self.status = STATUS_BY_CODE[code] if status is None else status
        self.headers = headers


class BodyTooLarge(ForqError):
    """The whole body is over the limit: the one code with a second status."""

    def __init__(self) -> None:
        super().__init__("bad_request.body.content.exceeds_limit", status=413)


class MethodNotAllowed(ForqError):
    def __init__(self, allowed: Iterable[str]) -> None:
        allow = ", ".join(sorted(allowed)).encode()
        super().__init__("method_not_allowed", headers=((b"allow", allow),))


class Overloaded(ForqError):
    def __init__(self) -> None:
        super().__init__("overloaded", headers=((b"retry-after", b"1"),))
