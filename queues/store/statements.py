"""The hot statements on SQLite, each with what it does and the index that serves it."""

from __future__ import annotations

from typing import Final

# status: 0 ready, 1 processing, 2 failed, 3 delayed
READY: Final = 0
PROCESSING: Final = 1
FAILED: Final = 2
DELAYED: Final = 3

# The number of a queue's name (unique index on name).
FIND_QUEUE: Final = "SELECT id FROM queues WHERE name = ?"
# A queue exists as soon as a message is sent to it.
ADD_QUEUE: Final = "INSERT INTO queues (name, created_at) VALUES (?, ?) RETURNING id"
# Back from number to name (primary key).
NAME_QUEUE: Final = "SELECT name FROM queues WHERE id = ?"

# Store a message; ids only grow, so the row goes to the end of the table.
PRODUCE: Final = """
    INSERT INTO messages (
        id, tail, queue_id, status, priority, attempts, receipt, process_after,
        processing_started_at, lease_until, updated_at, expires_after, dedup_key, content
    ) VALUES (?1, ?2, ?3, ?4, ?5, 0, 0x4000000000000000, ?6, ?7, ?7, ?7, ?8, ?9, ?10)
"""

# Take a dedup key for a new message, unless it is held or was until a moment ago (primary key).
TAKE_DEDUP_KEY: Final = """
    INSERT INTO dedup (queue_id, key, message_id, tail) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (queue_id, key) DO UPDATE
    SET message_id = excluded.message_id, tail = excluded.tail, left_at = NULL
    WHERE left_at <= ?5
"""
# The message that holds a dedup key (primary key).
DEDUP_HOLDER: Final = "SELECT message_id, tail FROM dedup WHERE queue_id = ? AND key = ?"
# A message with a dedup key leaves its queue: the key's last minutes begin (primary key).
LEAVE_DEDUP_KEY: Final = """
    UPDATE dedup SET left_at = ?1 WHERE queue_id = ?2 AND key = ?3 AND message_id = ?4
"""

# Lease the first messages of a queue, in order of delivery (messages_ready).
CLAIM: Final = """
    UPDATE messages
    SET status = 1, attempts = attempts + 1, receipt = ?1 | (dedup_key IS NOT NULL),
        processing_started_at = ?2, lease_until = ?3, updated_at = ?2
    WHERE id IN (
        SELECT id FROM messages WHERE queue_id = ?4 AND status = 0
        ORDER BY priority DESC, id LIMIT ?5
    )
    RETURNING id, tail, content, receipt, attempts, priority
"""

# One delivery, or whoever holds the message, while its lease lasts (primary key).
_HELD: Final = """
    id = ?1 AND tail = ?2 AND queue_id = ?3 AND status = 1 AND lease_until > ?4
"""
# Delete a message that is done (primary key); only one with a dedup key has more to say.
ACK: Final = f"DELETE FROM messages WHERE {_HELD} AND receipt = ?5"
ACK_WITH_KEY: Final = f"{ACK} RETURNING dedup_key"
ACK_ANY: Final = f"DELETE FROM messages WHERE {_HELD} RETURNING dedup_key"

# Give a message back: failed after the last attempt, else later or at once (primary key).
_NACK: Final = f"""
    UPDATE messages
    SET status = CASE
            WHEN attempts >= ?6 THEN 2
            WHEN coalesce(?7, json_extract(?8, '$[' || (attempts - 1) || ']'), ?9) > 0 THEN 3
            ELSE 0 END,
        process_after =
            ?4 + coalesce(?7, json_extract(?8, '$[' || (attempts - 1) || ']'), ?9),
        receipt = 0x4000000000000000, updated_at = ?4,
        nack_reason = coalesce(?10, nack_reason)
    WHERE {_HELD}
"""
NACK: Final = f"{_NACK} AND receipt = ?5 RETURNING status, process_after"
NACK_ANY: Final = f"{_NACK} AND ?5 IS NULL RETURNING status, process_after"

# Move the end of a lease (primary key).
EXTEND: Final = f"""
    UPDATE messages SET lease_until = ?6, updated_at = ?4 WHERE {_HELD} AND receipt = ?5
"""
# Undo a claim nobody received (primary key).
RELEASE: Final = f"""
    UPDATE messages
    SET status = 0, attempts = attempts - 1, receipt = 0x4000000000000000, updated_at = ?4
    WHERE {_HELD} AND receipt = ?5
"""

# Delays that are over (messages_delayed).
READY_DELAYED: Final = """
    UPDATE messages SET status = 0, updated_at = ?1
    WHERE id IN (
        SELECT id FROM messages WHERE status = 3 AND process_after <= ?1
        ORDER BY process_after LIMIT ?2
    )
    RETURNING queue_id
"""
# Leases that are over: available at once, or failed after the last attempt (messages_leased).
RECOVER_LEASED: Final = """
    UPDATE messages
    SET status = CASE WHEN attempts >= ?3 THEN 2 ELSE 0 END,
        receipt = 0x4000000000000000, updated_at = ?1
    WHERE id IN (
        SELECT id FROM messages WHERE status = 1 AND lease_until <= ?1
        ORDER BY lease_until LIMIT ?2
    )
    RETURNING queue_id, status
"""
# The next delay and the next lease to be over (messages_delayed, messages_leased).
NEXT_DELAYED: Final = "SELECT min(process_after) FROM messages WHERE status = 3"
NEXT_LEASED: Final = "SELECT min(lease_until) FROM messages WHERE status = 1"

# The last id given out, as far as it is still there (primary key).
LAST_ID: Final = "SELECT max(id) FROM messages"
# Changes when another connection has committed.
DATA_VERSION: Final = "PRAGMA data_version"
