"""Every statement goes through its index, in an empty table, a lopsided and an analysed one."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from queues.store import statements
from queues.store.sqlite import connect
from tests.queues.databases import make_sqlite

BY_ID = "SEARCH messages USING INTEGER PRIMARY KEY (rowid=?)"
BY_KEY = "SEARCH dedup USING PRIMARY KEY (queue_id=? AND key=?)"

PLANS: dict[str, list[str]] = {
    "FIND_QUEUE": ["SEARCH queues USING INDEX sqlite_autoindex_queues_1 (name=?)"],
    "ADD_QUEUE": [],
    "NAME_QUEUE": ["SEARCH queues USING INTEGER PRIMARY KEY (rowid=?)"],
    "PRODUCE": [],
    "TAKE_DEDUP_KEY": [],
    "DEDUP_HOLDER": [BY_KEY],
    "LEAVE_DEDUP_KEY": [BY_KEY],
    "CLAIM": [BY_ID, "SEARCH messages USING INDEX messages_ready (queue_id=?)"],
    "ACK": [BY_ID],
    "ACK_WITH_KEY": [BY_ID],
    "ACK_ANY": [BY_ID],
    "NACK": [BY_ID],
    "NACK_ANY": [BY_ID],
    "EXTEND": [BY_ID],
    "RELEASE": [BY_ID],
    "READY_DELAYED": [BY_ID, "SEARCH messages USING INDEX messages_delayed (process_after<?)"],
    "RECOVER_LEASED": [BY_ID, "SEARCH messages USING INDEX messages_leased (lease_until<?)"],
    "NEXT_DELAYED": ["SEARCH messages USING INDEX messages_delayed"],
    "NEXT_LEASED": ["SEARCH messages USING INDEX messages_leased"],
    "LAST_ID": ["SEARCH messages"],
    "DATA_VERSION": [],
}
STATEMENTS = {
    name: text
    for name, text in vars(statements).items()
    if isinstance(text, str) and not name.startswith("_")
}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(make_sqlite(tmp_path / "forq.db"))) as connection:
        connection.execute("BEGIN")
        yield connection


def plan(db: sqlite3.Connection, statement: str) -> list[str]:
    """What SQLite says it will do, without what makes no difference here."""
    numbered = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    count = max(numbered, default=statement.count("?"))
    steps = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", (None,) * count)]
    return [
        step.replace("USING COVERING INDEX", "USING INDEX")
        for step in steps
        if not step.startswith("LIST SUBQUERY")
    ]


def plans(db: sqlite3.Connection) -> dict[str, list[str]]:
    return {name: plan(db, statement) for name, statement in STATEMENTS.items()}


def fill(db: sqlite3.Connection, statuses: str) -> None:
    """Many messages of one queue, few of another; ``statuses`` for as many rows each."""
    rows = [
        (1 + n, 1 + (n % 500 == 0), int(status), n % 3, 1_000_000 + n)
        for n, status in enumerate(statuses)
    ]
    db.executemany(
        "INSERT INTO messages (id, tail, queue_id, status, priority, attempts, receipt,"
        " process_after, processing_started_at, lease_until, updated_at, expires_after, content)"
        " VALUES (?1, 7, ?2, ?3, ?4, 0, 1, ?5, ?5, ?5, ?5, ?5, 'x')",
        rows,
    )
    db.execute("INSERT INTO queues (name, created_at) VALUES ('a', 1), ('b', 1)")
    db.execute("INSERT INTO dedup SELECT queue_id, 'k' || id, id, 7, NULL FROM messages")


def test_an_empty_table(db: sqlite3.Connection) -> None:
    assert plans(db) == PLANS


def test_an_empty_table_after_analyze(db: sqlite3.Connection) -> None:
    db.execute("ANALYZE")

    assert plans(db) == PLANS


@pytest.mark.parametrize("status", [0, 1, 2, 3], ids=["ready", "processing", "failed", "delayed"])
def test_a_lopsided_table_after_analyze(db: sqlite3.Connection, status: int) -> None:
    fill(db, str(status) * 4_000 + "0123" * 3)
    db.execute("ANALYZE")

    assert plans(db) == PLANS


def test_a_claim_walks_past_nothing_it_does_not_take(db: sqlite3.Connection) -> None:
    """The plan says which index; this says that no more than the rows taken are looked at."""
    steps: list[int] = []

    def cost() -> int:
        db.execute("SAVEPOINT claim")
        steps.clear()
        db.set_progress_handler(lambda: steps.append(1), 1)
        claimed = db.execute(statements.CLAIM, (1 << 62, 5, 9, 2, 1)).fetchall()
        db.set_progress_handler(None, 0)
        db.execute("ROLLBACK TO claim")
        assert len(claimed) == 1
        return len(steps)

    fill(db, "0" * 1_000)
    before = cost()
    db.execute("UPDATE messages SET id = -id")
    db.execute("DELETE FROM queues")
    db.execute("DELETE FROM dedup")
    fill(db, "1233" * 1_000 + "0000" * 500)

    assert cost() == before
