"""The store on SQLite: one connection that writes, on the thread that calls.

The connection runs with synchronous=NORMAL, so a commit is a write to the log and no more.
Where an answered write has to survive power loss, the log is synced afterwards, on a thread
of its own and once for the whole group, while the event loop goes on reading requests.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import quote

import structlog

from queues import ids
from queues.store.checkpoint import Checkpoints
from queues.store.interface import Committed, StoreBusy, StoreError, StoreUnavailable
from queues.store.malloc import keep_freed_memory
from queues.store.operations import Operation
from queues.store.sqlite_operations import MessageOperations
from queues.store.statements import DATA_VERSION, LAST_ID

# How often to look whether the database file is still there.
LOOK_INTERVAL_S: Final = 0.25
# Errors that say something of the whole database, not of one operation.
_WHOLE_DATABASE: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOTADB,
    }
)

log = structlog.get_logger("forq.store")


class SQLiteStore:
    def __init__(self, path: Path, *, full: bool, id_source: ids.IdSource | None = None) -> None:
        self._path = path
        self._full = full
        self._ids = id_source or ids.IdSource()
        self._version = -1
        self._doubt: str | None = None
        self._look_at = 0.0

    def open(self) -> None:
        keep_freed_memory()
        self._db = connect(self._path)
        self._cursor = self._db.cursor()
        self._messages = MessageOperations(self._cursor, self._ids)
        self._inode = self._path.stat().st_ino
        self._checkpoints = Checkpoints(connect(self._path))
        if self._full:
            # SQLite keeps no locks on the log file, so a second descriptor takes none away.
            self._log = os.open(f"{self._path}-wal", os.O_RDWR)
            self._syncer = ThreadPoolExecutor(1, "forq-sync")
            _sync_directory(self._path.parent)

    @property
    def next_due_ms(self) -> int | None:
        return self._messages.next_due_ms

    async def commit(self, operations: Sequence[Operation], now_ms: int) -> Committed:
        self._look_for_file()
        changes = self._db.total_changes
        committed = self._commit(operations, now_ms)
        # An answer may also rest on what another process has not synced yet.
        if committed.foreign or self._db.total_changes != changes:
            if self._full:
                await self._sync(operations)
            await self._checkpoints.keep_up()
        return committed

    def changed(self) -> bool:
        try:
            (version,) = self._cursor.execute(DATA_VERSION).fetchone()
        except sqlite3.Error:
            return False
        return bool(version != self._version)

    async def ping(self) -> None:
        self._look_at = 0.0
        self._look_for_file()
        try:
            self._cursor.execute("SELECT 1 FROM messages LIMIT 1").fetchall()
        except sqlite3.Error as error:
            raise StoreUnavailable(str(error)) from error

    async def close(self) -> None:
        self._checkpoints.close()
        self._db.close()
        if self._full:
            self._syncer.shutdown()
            os.close(self._log)

    def _commit(self, operations: Sequence[Operation], now_ms: int) -> Committed:
        committed = Committed()
        self._begin()
        try:
            committed.foreign = self._notice_others()
            self._messages.apply(operations, now_ms, committed)
            self._cursor.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - handed to those whom it concerns
            self._rollback()
            if len(operations) > 1 and not _concerns_all(error):
                return self._commit_each(operations, now_ms)
            _fail(operations, error)
        return committed

    def _commit_each(self, operations: Sequence[Operation], now_ms: int) -> Committed:
        """Carry out a group in which something fails, so that only that fails."""
        committed = Committed()
        cursor = self._cursor
        self._begin()
        try:
            committed.foreign = self._notice_others()
            for operation in operations:
                cursor.execute("SAVEPOINT one")
                try:
                    self._messages.apply([operation], now_ms, committed)
                except Exception as error:
                    if _concerns_all(error):
                        raise
                    cursor.execute("ROLLBACK TO one")
                    self._messages.forget()
                    _fail([operation], error)
                cursor.execute("RELEASE one")
            cursor.execute("COMMIT")
        except Exception as error:  # noqa: BLE001 - handed to those whom it concerns
            self._rollback()
            _fail(operations, error)
        return committed

    def _look_for_file(self) -> None:
        """Refuse to write where it would be for nobody: the file is gone, or the disk in doubt."""
        if self._doubt is not None:
            raise StoreUnavailable(self._doubt)
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_INTERVAL_S
        try:
            inode = self._path.stat().st_ino
        except OSError as error:
            raise StoreUnavailable(str(error)) from error
        if inode != self._inode:
            raise StoreUnavailable(f"{self._path} was replaced by another file")

    def _begin(self) -> None:
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            if _primary_code(error) == sqlite3.SQLITE_BUSY:
                raise StoreBusy(str(error)) from error
            raise StoreUnavailable(str(error)) from error
        self._due_before = self._messages.next_due_ms

    def _rollback(self) -> None:
        self._messages.forget()
        # What this transaction noticed, the next has to notice again.
        self._messages.next_due_ms = self._due_before
        self._version = -1
        if self._db.in_transaction:
            self._cursor.execute("ROLLBACK")

    def _notice_others(self) -> bool:
        """Catch up with what other processes have committed since the last transaction."""
        (version,) = self._cursor.execute(DATA_VERSION).fetchone()
        if version == self._version:
            return False
        self._version = version
        (last,) = self._cursor.execute(LAST_ID).fetchone()
        self._ids.follow(last or 0)
        self._messages.look_ahead()
        return True

    async def _sync(self, operations: Sequence[Operation]) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._syncer, os.fdatasync, self._log)
        except OSError as error:
            # The kernel may have dropped what it could not write: whatever comes after it in the
            # log would be lost with it. Only a new start can tell what is there.
            self._doubt = f"the disk failed to sync ({error}); restart when it is sound"
            log.critical("store.sync_failed", error=str(error))
            _fail(operations, error)


def connect(path: Path) -> sqlite3.Connection:
    # autocommit, since transactions are begun and ended by hand; no waiting for the write
    # lock inside SQLite, since that would hold up the event loop.
    db = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw",
        uri=True,
        timeout=0,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        # Debian builds SQLite to overwrite what it deletes.
        "secure_delete=OFF",
        "temp_store=MEMORY",
        "cache_size=-65536",
        # queues/store/checkpoint.py does that.
        "wal_autocheckpoint=0",
        "journal_size_limit=67108864",
    ):
        db.execute(f"PRAGMA {pragma}").close()
    return db


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _primary_code(error: Exception) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _concerns_all(error: Exception) -> bool:
    return _primary_code(error) in _WHOLE_DATABASE


def _fail(operations: Sequence[Operation], error: Exception) -> None:
    wrapped = StoreUnavailable if _concerns_all(error) or isinstance(error, OSError) else StoreError
    for operation in operations:
        operation.error = wrapped(f"{type(error).__name__}: {error}")
        operation.error.__cause__ = error
