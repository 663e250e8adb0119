"""One queue as the contract describes it, in the plainest Python: what a store must agree with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from queues.limits import DEDUP_WINDOW_MS
from queues.rules import QueueRules
from queues.store.operations import NewMessage, Prolonged, Rejected, Settled


class Status(Enum):
    READY = auto()
    DELAYED = auto()
    LEASED = auto()
    FAILED = auto()


@dataclass
class Message:
    id: int
    new: NewMessage
    status: Status
    due: int
    """When its delay or its lease is over, if it has one."""
    attempts: int = 0
    receipt: int | None = None


@dataclass
class QueueModel:
    rules: QueueRules
    messages: dict[int, Message] = field(default_factory=dict)
    """By id, in order of arrival; what was acked is gone."""
    keys: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    """Dedup key → the message that has it, and when that left."""

    def holder(self, key: str | None, now: int) -> int | None:
        """The message a further one with this key would be a duplicate of."""
        if key is None or key not in self.keys:
            return None
        message_id, left_at = self.keys[key]
        return message_id if left_at is None or now - left_at < DEDUP_WINDOW_MS else None

    def add(self, message_id: int, new: NewMessage, now: int) -> None:
        status = Status.DELAYED if new.process_after > now else Status.READY
        self.messages[message_id] = Message(message_id, new, status, new.process_after)
        if new.dedup_key is not None:
            self.keys[new.dedup_key] = (message_id, None)

    def next_in_line(self, limit: int) -> list[Message]:
        ready = [each for each in self.messages.values() if each.status is Status.READY]
        ready.sort(key=lambda each: -each.new.priority)
        return ready[:limit]

    def deliver(self, message: Message, receipt: int, lease_until: int) -> None:
        message.status = Status.LEASED
        message.attempts += 1
        message.receipt = receipt
        message.due = lease_until

    def held(self, message_id: int, receipt: int | None, now: int) -> Message | None:
        """The message, if its current delivery is meant and its lease lasts."""
        message = self.messages.get(message_id)
        if message is None or message.status is not Status.LEASED or message.due <= now:
            return None
        return message if receipt in (None, message.receipt) else None

    def ack(self, settled: Settled, now: int) -> bool:
        message = self.held(settled.id, settled.receipt, now)
        if message is None:
            return False
        del self.messages[message.id]
        if message.new.dedup_key is not None:
            self.keys[message.new.dedup_key] = (message.id, now)
        return True

    def nack(self, rejected: Rejected, now: int) -> bool:
        message = self.held(rejected.id, rejected.receipt, now)
        if message is None:
            return False
        delays = self.rules.backoff_ms
        delay_ms = rejected.delay_ms
        if delay_ms is None:
            delay_ms = delays[min(message.attempts, len(delays)) - 1]
        if message.attempts >= self.rules.max_attempts:
            message.status = Status.FAILED
        else:
            message.status = Status.DELAYED if delay_ms else Status.READY
            message.due = now + delay_ms
        return True

    def extend(self, prolonged: Prolonged, now: int) -> bool:
        message = self.held(prolonged.id, prolonged.receipt, now)
        if message is None:
            return False
        message.due = now + prolonged.visibility_ms
        return True

    def release(self, settled: Settled, now: int) -> None:
        message = self.held(settled.id, settled.receipt, now)
        if message is not None:
            message.status = Status.READY
            message.attempts -= 1

    def let_time_pass(self, now: int) -> None:
        for message in self.messages.values():
            if message.due > now:
                continue
            if message.status is Status.DELAYED:
                message.status = Status.READY
            elif message.status is Status.LEASED:
                spent = message.attempts >= self.rules.max_attempts
                message.status = Status.FAILED if spent else Status.READY

    def times(self) -> list[int]:
        """When delays and leases are over, soonest first."""
        timed = (Status.DELAYED, Status.LEASED)
        return sorted(each.due for each in self.messages.values() if each.status in timed)
