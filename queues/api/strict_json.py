"""JSON as strict as the contract: msgspec checks all of it but a name that stands twice."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from queues.errors import ForqError

T = TypeVar("T")


class StrictDecoder(Generic[T]):
    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def decode(self, body: bytes) -> T:
        try:
            value = self._decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ForqError("bad_request.body.invalid") from error
        # All fields are known ones, so the only string in the body that is not in the value
        # is a name that stands twice, with what it stood for first.
        if _strings(body) != _count(value):
            raise ForqError("bad_request.body.invalid")
        return value


def _strings(body: bytes) -> int:
    """How many strings valid JSON holds: half as many as it has quotes that are not escaped."""
    if b"\\\\" in body:
        body = body.replace(b"\\\\", b"")
    return (body.count(b'"') - body.count(b'\\"')) // 2


def _count(value: Any) -> int:
    """How many names and texts a decoded value stands for."""
    if isinstance(value, str):
        return 1
    if isinstance(value, list):
        return sum(map(_count, value))
    if isinstance(value, msgspec.Struct):
        strings = 0
        for name in value.__struct_fields__:
            field = getattr(value, name)
            if field is not msgspec.UNSET:
                strings += 1 + _count(field)
        return strings
    return 0
