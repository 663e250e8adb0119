"""Receipts: the number of one delivery, as the client sees it and as it is stored.

A delivery's number always has its 62nd bit set: it fills eight bytes of a row whatever
it is, so that a claim never changes a row's size (docs/architecture.md). Its lowest bit
says that the message has a dedup key, which an ack must then let go of.
"""

from __future__ import annotations

import re
from random import getrandbits
from typing import Final

HAS_DEDUP_KEY: Final = 1
_MARK: Final = 1 << 62
TEXT: Final = re.compile(r"[4-7][0-9a-f]{15}")


def make() -> int:
    return _MARK | getrandbits(61) << 1


def to_text(receipt: int) -> str:
    return f"{receipt:x}"


def parse(text: str) -> int | None:
    return int(text, 16) if TEXT.fullmatch(text) else None
