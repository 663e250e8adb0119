"""The tables, per dialect; migrations apply them, nothing else does.

There are no Django models: every statement on these tables is in this package.
"""

from __future__ import annotations

from typing import Final

# The columns that a claim changes hold values of the same width before and after, so that
# SQLite overwrites the row in place: with 100 kB of content a claim costs a third.
SQLITE_INITIAL: Final = (
    """
    CREATE TABLE queues (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        created_at INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        tail INTEGER NOT NULL,
        queue_id INTEGER NOT NULL,
        status INTEGER NOT NULL,
        priority INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        receipt INTEGER NOT NULL,
        process_after INTEGER NOT NULL,
        processing_started_at INTEGER NOT NULL,
        lease_until INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        expires_after INTEGER NOT NULL,
        dedup_key TEXT,
        failure_reason TEXT,
        nack_reason TEXT,
        content TEXT NOT NULL
    ) STRICT
    """,
    # A message is in at most one of these three.
    "CREATE INDEX messages_ready ON messages (queue_id, priority DESC, id) WHERE status = 0",
    "CREATE INDEX messages_leased ON messages (lease_until) WHERE status = 1",
    "CREATE INDEX messages_delayed ON messages (process_after) WHERE status = 3",
    """
    CREATE TABLE dedup (
        queue_id INTEGER NOT NULL,
        key TEXT NOT NULL,
        message_id INTEGER NOT NULL,
        tail INTEGER NOT NULL,
        left_at INTEGER,
        PRIMARY KEY (queue_id, key)
    ) STRICT, WITHOUT ROWID
    """,
)
SQLITE_INITIAL_UNDO: Final = (
    "DROP TABLE dedup",
    "DROP TABLE messages",
    "DROP TABLE queues",
)
