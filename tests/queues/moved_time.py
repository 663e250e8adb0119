"""An event loop whose time passes only while nothing is left to do, and then at once."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any, Final

EPOCH_MS: Final = 1_700_000_000_000
# No test lets this much time pass: what goes on for longer will never end.
FOREVER_S: Final = 600


class MovedTimeLoop(asyncio.SelectorEventLoop):
    """Waiting for a timer costs nothing and is exact; waiting for nothing fails.

    For work on this thread alone: time would run away from a thread.
    """

    def __init__(self) -> None:
        self._passed = 0.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self._passed

    def pass_time(self, seconds: float) -> None:
        self._passed += seconds

    def now_ms(self) -> int:
        """A clock in step with the loop's timers."""
        return EPOCH_MS + round(self._passed * 1_000_000) // 1_000


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop: MovedTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, Any]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits and nothing is left that could happen"
            assert self._loop.time() < FOREVER_S, "this does not come to an end"
            self._loop.pass_time(timeout)
        return ready


async def moment() -> None:
    """Until everything has happened that needs no time to pass."""
    await asyncio.sleep(0.000_01)
