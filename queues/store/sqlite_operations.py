"""Each operation on SQLite, inside a transaction that somebody else begins and ends."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from queues import ids, receipts
from queues.limits import DEDUP_WINDOW_MS
from queues.store import statements
from queues.store.interface import Committed
from queues.store.operations import (
    Ack,
    Claim,
    Claimed,
    Due,
    Extend,
    Nack,
    NewMessage,
    Operation,
    Produce,
    Release,
)
from queues.store.queue_names import QueueNames

# A claim takes so many messages at a time, and no more once it has so much content: however
# large the messages, an answer stays below 50 MB.
CLAIM_PORTION: Final = 128
CLAIM_CHARACTERS: Final = 16 * 1024 * 1024


class MessageOperations:
    def __init__(self, cursor: sqlite3.Cursor, id_source: ids.IdSource) -> None:
        self.next_due_ms: int | None = None
        self._cursor = cursor
        self._ids = id_source
        self._queues = QueueNames(cursor)
        self._rows: list[tuple[object, ...]] = []
        self._handlers: dict[type[Operation], Any] = {
            Ack: self._ack,
            Nack: self._nack,
            Extend: self._extend,
            Release: self._release,
            Due: self._due,
            Claim: self._claim,
        }

    def apply(self, operations: Sequence[Operation], now_ms: int, committed: Committed) -> None:
        """Carry out operations in order, new messages of neighbouring ones together."""
        self._rows.clear()
        for operation in operations:
            if isinstance(operation, Produce):
                self._produce(operation, now_ms, committed)
            else:
                if self._rows:
                    self._insert()
                self._handlers[type(operation)](operation, now_ms, committed)
        if self._rows:
            self._insert()

    def forget(self) -> None:
        """What was done since the transaction began is undone."""
        self._queues.forget()
        self._rows.clear()

    def look_ahead(self) -> None:
        """Find out when the next delay or lease is over."""
        times = [
            time
            for statement in (statements.NEXT_DELAYED, statements.NEXT_LEASED)
            for (time,) in self._cursor.execute(statement).fetchall()
            if time is not None
        ]
        self.next_due_ms = min(times, default=None)

    def _note_due(self, due_ms: int) -> None:
        if self.next_due_ms is None or due_ms < self.next_due_ms:
            self.next_due_ms = due_ms

    def _insert(self) -> None:
        self._cursor.executemany(statements.PRODUCE, self._rows)
        self._rows.clear()

    def _produce(self, operation: Produce, now_ms: int, committed: Committed) -> None:
        queue_id = self._queues.find_or_add(operation.queue, now_ms)
        ttl_ms = operation.rules.ttl_ms
        given: list[int] = []
        operation.duplicates = 0
        for key, message in zip(
            self._ids.take(len(operation.messages), now_ms), operation.messages, strict=True
        ):
            tail = ids.new_tail()
            if message.dedup_key is not None:
                first = self._hold_dedup_key(queue_id, key, tail, message, now_ms)
                if first is not None:
                    given.append(first)
                    operation.duplicates += 1
                    continue
            if message.process_after > now_ms:
                status, due_ms = statements.DELAYED, message.process_after
                self._note_due(due_ms)
            else:
                status, due_ms = statements.READY, now_ms
                committed.wake(operation.queue)
            given.append(ids.join(key, tail))
            self._rows.append(
                (
                    key,
                    tail,
                    queue_id,
                    status,
                    message.priority,
                    due_ms,
                    now_ms,
                    due_ms + ttl_ms,
                    message.dedup_key,
                    message.content,
                )
            )
        operation.ids = given

    def _hold_dedup_key(
        self, queue_id: int, key: int, tail: int, message: NewMessage, now_ms: int
    ) -> int | None:
        """Take a message's dedup key, or say who holds it."""
        cursor = self._cursor.execute(
            statements.TAKE_DEDUP_KEY,
            (queue_id, message.dedup_key, key, tail, now_ms - DEDUP_WINDOW_MS),
        )
        if cursor.rowcount:
            return None
        row = cursor.execute(statements.DEDUP_HOLDER, (queue_id, message.dedup_key)).fetchone()
        return ids.join(*row)

    def _claim(self, operation: Claim, now_ms: int, committed: Committed) -> None:
        operation.messages = []
        operation.cut = False
        queue_id = self._queues.find(operation.queue)
        if queue_id is None:
            return
        lease_until = now_ms + operation.lease_ms
        receipt = receipts.make()
        messages: list[Claimed] = []
        characters = 0
        while len(messages) < operation.limit:
            wanted = min(operation.limit - len(messages), CLAIM_PORTION)
            rows = self._cursor.execute(
                statements.CLAIM, (receipt, now_ms, lease_until, queue_id, wanted)
            ).fetchall()
            # RETURNING promises no order.
            rows.sort(key=lambda row: (-row[5], row[0]))
            messages += [
                Claimed(ids.join(key, tail), content, receipt, attempts, priority)
                for key, tail, content, receipt, attempts, priority in rows
            ]
            if len(rows) < wanted:
                break
            characters += sum(len(row[2]) for row in rows)
            if characters > CLAIM_CHARACTERS:
                operation.cut = True
                break
        if messages:
            self._note_due(lease_until)
        operation.messages = messages

    def _ack(self, operation: Ack, now_ms: int, committed: Committed) -> None:
        queue_id = self._queues.find(operation.queue)
        cursor = self._cursor
        done = operation.done = []
        for message_id, receipt in operation.messages:
            key = ids.key_of(message_id)
            held = (key, ids.tail_of(message_id), queue_id, now_ms)
            if receipt is not None and not receipt & receipts.HAS_DEDUP_KEY:
                done.append(cursor.execute(statements.ACK, (*held, receipt)).rowcount == 1)
                continue
            if receipt is None:
                rows = cursor.execute(statements.ACK_ANY, held).fetchall()
            else:
                rows = cursor.execute(statements.ACK_WITH_KEY, (*held, receipt)).fetchall()
            done.append(bool(rows))
            if rows and rows[0][0] is not None:
                cursor.execute(statements.LEAVE_DEDUP_KEY, (now_ms, queue_id, rows[0][0], key))

    def _nack(self, operation: Nack, now_ms: int, committed: Committed) -> None:
        queue_id = self._queues.find(operation.queue)
        rules = operation.rules
        backoff = json.dumps(rules.backoff_ms)
        done = operation.done = []
        for message_id, receipt, delay_ms, reason in operation.messages:
            rows = self._cursor.execute(
                statements.NACK_ANY if receipt is None else statements.NACK,
                (
                    ids.key_of(message_id),
                    ids.tail_of(message_id),
                    queue_id,
                    now_ms,
                    receipt,
                    rules.max_attempts,
                    delay_ms,
                    backoff,
                    rules.backoff_ms[-1],
                    reason,
                ),
            ).fetchall()
            done.append(bool(rows))
            for status, process_after in rows:
                if status == statements.READY:
                    committed.wake(operation.queue)
                elif status == statements.DELAYED:
                    self._note_due(process_after)

    def _extend(self, operation: Extend, now_ms: int, committed: Committed) -> None:
        queue_id = self._queues.find(operation.queue)
        done = operation.done = []
        for message_id, receipt, visibility_ms in operation.messages:
            lease_until = now_ms + visibility_ms
            cursor = self._cursor.execute(
                statements.EXTEND,
                (
                    ids.key_of(message_id),
                    ids.tail_of(message_id),
                    queue_id,
                    now_ms,
                    receipt,
                    lease_until,
                ),
            )
            done.append(cursor.rowcount == 1)
            self._note_due(lease_until)

    def _release(self, operation: Release, now_ms: int, committed: Committed) -> None:
        queue_id = self._queues.find(operation.queue)
        for message_id, receipt in operation.messages:
            held = (ids.key_of(message_id), ids.tail_of(message_id), queue_id, now_ms, receipt)
            if self._cursor.execute(statements.RELEASE, held).rowcount:
                committed.wake(operation.queue)

    def _due(self, operation: Due, now_ms: int, committed: Committed) -> None:
        cursor = self._cursor
        ready = [
            queue_id
            for (queue_id,) in cursor.execute(
                statements.READY_DELAYED, (now_ms, operation.limit)
            ).fetchall()
        ]
        ready += [
            queue_id
            for queue_id, status in cursor.execute(
                statements.RECOVER_LEASED, (now_ms, operation.limit, operation.rules.max_attempts)
            ).fetchall()
            if status == statements.READY
        ]
        for queue_id in ready:
            committed.wake(self._queues.name(queue_id))
        self.look_ahead()
