"""The server's clock, in Unix milliseconds; a parameter everywhere, so that tests move time."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]


def now_ms() -> int:
    return time.time_ns() // 1_000_000
