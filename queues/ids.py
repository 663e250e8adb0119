"""Message ids: UUIDv7 whose order is the order of arrival.

Inside the program an id is the UUID's 128-bit number. Its first 48 bits are the
millisecond of arrival (``receivedAt``), the next 21 random-seeded bits count up
within that millisecond, the last 53 are random. uuid6's own generator moves its
clock ahead by a millisecond per id, so that at a thousand ids a second and more the
time inside would no longer be the time of arrival.
"""

from __future__ import annotations

import re
from random import getrandbits
from typing import Final

TAIL_BITS: Final = 53
COUNTER_BITS: Final = 21
_COUNTER_MAX: Final = (1 << COUNTER_BITS) - 1
_TAIL_MASK: Final = (1 << TAIL_BITS) - 1
_MARKS: Final = (0x7 << 76) | (0b10 << 62)
_MARKS_MASK: Final = (0xF << 76) | (0b11 << 62)
_LOW_COUNTER_BITS: Final = 9
_LOW_COUNTER_MASK: Final = (1 << _LOW_COUNTER_BITS) - 1
_LAST_MS: Final = (1 << (63 - COUNTER_BITS)) - 1

_TEXT: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
NOBODY: Final = 0
"""No message has this id: what a well-formed UUID that is not ours stands for."""


class IdSource:
    """Ids that only ever grow, also when the clock steps back."""

    def __init__(self) -> None:
        self._key = 0

    def take(self, count: int, now_ms: int) -> range:
        """The ordered parts of so many ids; ``new_tail`` makes the rest of each."""
        key = self._key
        start = now_ms << COUNTER_BITS
        if start > key:
            # A seed from the lower half leaves a million ids for this millisecond.
            key = start | getrandbits(COUNTER_BITS - 1)
        self._key = key + count
        return range(key + 1, key + count + 1)

    def follow(self, key: int) -> None:
        """Stay behind ids that another process has given out."""
        self._key = max(self._key, key)


def new_tail() -> int:
    return getrandbits(TAIL_BITS)


def join(key: int, tail: int) -> int:
    return (
        (key >> COUNTER_BITS) << 80
        | (key & _COUNTER_MAX) >> _LOW_COUNTER_BITS << 64
        | (key & _LOW_COUNTER_MASK) << TAIL_BITS
        | tail
        | _MARKS
    )


def key_of(message_id: int) -> int:
    """The ordered part of an id, as one 63-bit number."""
    return (
        (message_id >> 80) << COUNTER_BITS
        | (message_id >> 64 & 0xFFF) << _LOW_COUNTER_BITS
        | (message_id >> TAIL_BITS & _LOW_COUNTER_MASK)
    )


def tail_of(message_id: int) -> int:
    return message_id & _TAIL_MASK


def received_at(message_id: int) -> int:
    return message_id >> 80


def to_text(message_id: int) -> str:
    h = f"{message_id:032x}"
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def parse(text: str) -> int | None:
    """The id a text names, or None when it is not a UUID at all."""
    if _TEXT.fullmatch(text) is None:
        return None
    number = int(text.replace("-", ""), 16)
    if number & _MARKS_MASK != _MARKS or number >> 80 > _LAST_MS:
        return NOBODY
    return number
