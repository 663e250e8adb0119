"""JSON as strict as the contract: msgspec checks all of it but a name that stands twice."""

from __future__ import annotations

import re
from typing import Final, Generic, TypeVar

import msgspec

from queues.errors import ForqError

T = TypeVar("T")
# A string, and whether it is a name: whether a colon follows.
_STRINGS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"([ \t\r\n]*:)?', re.DOTALL)


class StrictDecoder(Generic[T]):
    def __init__(self, kind: type[T]) -> None:
        self._decoder = msgspec.json.Decoder(kind)

    def decode(self, body: bytes) -> T:
        try:
            value = self._decoder.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ForqError("bad_request.body.invalid") from error
        names, texts = _count(value)
        # Without a doubled name there is no quote but those around names and texts. A quote
        # inside a text has a backslash before it; two backslashes could hide that, so look closer.
        quotes = body.count(b'"') - body.count(b'\\"')
        if (quotes != 2 * (names + texts) or b"\\\\" in body) and names != _names(body):
            raise ForqError("bad_request.body.invalid")
        return value


def _names(body: bytes) -> int:
    return sum(1 for colon in _STRINGS.findall(body) if colon)


def _count(value: object) -> tuple[int, int]:
    """How many names and texts a decoded value stands for."""
    if isinstance(value, str):
        return 0, 1
    if isinstance(value, list):
        counts = [_count(each) for each in value]
        return sum(names for names, _ in counts), sum(texts for _, texts in counts)
    if isinstance(value, msgspec.Struct):
        names = texts = 0
        for name in value.__struct_fields__:
            field = getattr(value, name)
            if field is not msgspec.UNSET:
                more_names, more_texts = _count(field)
                names += 1 + more_names
                texts += more_texts
        return names, texts
    return 0, 0
