"""Keeps glibc from handing memory back to the kernel between two statements.

SQLite makes and drops a small temporary table for every claim. Where that is the top of the
heap, glibc returns it each time and faults it in again: a claim then costs three times as much.
"""

from __future__ import annotations

import ctypes
from typing import Final

_M_TRIM_THRESHOLD: Final = -1
_M_TOP_PAD: Final = -2


def keep_freed_memory() -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, 64 * 1024 * 1024)
        mallopt(_M_TOP_PAD, 1024 * 1024)
