"""Moves what was committed from SQLite's log into its database file, on a thread of its own.

SQLite would do so inside a commit, and the event loop would wait for the disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import structlog

# How often, while there is something to move.
INTERVAL_S: Final = 1.0
# A log of so many pages (16 MiB) has to start over: while one process writes without a pause it
# never would, since there is always a page that has not been moved yet.
LONG_LOG: Final = 4_000

log = structlog.get_logger("forq.store")


class Checkpoints:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._thread = ThreadPoolExecutor(1, "forq-checkpoint")
        self._under_way: Future[int] | None = None
        self._next_at = 0.0

    async def keep_up(self) -> None:
        """Called between two transactions; waits only where the log has grown long."""
        if self._under_way is not None:
            if not self._under_way.done():
                return
            pages = self._under_way.result()
            self._under_way = None
            if pages > LONG_LOG:
                # Little is left to move, and nobody adds to it meanwhile.
                await asyncio.get_running_loop().run_in_executor(self._thread, self._move)
        elif time.monotonic() >= self._next_at:
            self._next_at = time.monotonic() + INTERVAL_S
            self._under_way = self._thread.submit(self._move)

    def close(self) -> None:
        self._thread.shutdown()
        self._connection.close()

    def _move(self) -> int:
        """Move all pages that can be moved without waiting; how many the log has."""
        try:
            row = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            # A full disk is no reason to stop: the log keeps what was committed.
            log.warning("store.checkpoint_failed", error=str(error))
            return 0
        pages: int = row[1]
        return pages
