"""The same work straight on SQLite: our tables, statements and settings, nothing around them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from bench.lifecycle import CONTENT, Cost, Lifecycle
from queues import clock, ids, receipts
from queues.store import schema, statements
from queues.store.malloc import keep_freed_memory
from queues.store.sqlite import connect

_LEASE_MS = 300_000


def make_database(path: Path) -> None:
    path.touch()
    db = connect(path)
    for statement in schema.SQLITE_INITIAL:
        db.execute(statement)
    db.execute("INSERT INTO queues (id, name, created_at) VALUES (1, 'bench', 0)")
    db.close()


def lifecycle(path: Path, count: int, size: int, *, full: bool) -> Lifecycle:
    """So many messages, ``size`` of them a transaction."""
    keep_freed_memory()
    make_database(path)
    db = connect(path)
    db.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
    # Ours are made by a thread of the server's; here SQLite makes them in its own way.
    db.execute("PRAGMA wal_autocheckpoint = 4000")
    cursor = db.cursor()
    source = ids.IdSource()
    held: list[tuple[int, int, int]] = []

    def produce() -> None:
        now = clock.now_ms()
        cursor.executemany(
            statements.PRODUCE,
            [
                (key, ids.new_tail(), 1, 0, 0, now, now, now + 1, None, CONTENT)
                for key in source.take(size, now)
            ],
        )

    def claim() -> None:
        now = clock.now_ms()
        rows = cursor.execute(
            statements.CLAIM, (receipts.make(), now, now + _LEASE_MS, 1, size)
        ).fetchall()
        assert len(rows) == size
        held.extend((row[0], row[1], row[3]) for row in rows)

    def ack() -> None:
        now = clock.now_ms()
        for _ in range(size):
            key, tail, receipt = held.pop()
            cursor.execute(statements.ACK, (key, tail, 1, now, receipt))
            assert cursor.rowcount == 1

    def phase(operation: Callable[[], None]) -> Cost:
        cpu, started = time.process_time(), time.perf_counter()
        for _ in range(count // size):
            cursor.execute("BEGIN IMMEDIATE")
            operation()
            cursor.execute("COMMIT")
        messages = count // size * size
        return Cost(
            (time.process_time() - cpu) / messages * 1e6,
            messages / (time.perf_counter() - started),
        )

    result = Lifecycle(phase(produce), phase(claim), phase(ack))
    db.close()
    return result
