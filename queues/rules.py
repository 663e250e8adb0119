"""How a queue treats its messages: attempts, delays, lease, life time."""

from __future__ import annotations

from dataclasses import dataclass

from queues.limits import DLQ_SUFFIX


@dataclass(frozen=True, slots=True)
class QueueRules:
    max_attempts: int = 5
    backoff_ms: tuple[int, ...] = (1_000, 5_000, 15_000, 30_000, 60_000)
    visibility_ms: int = 300_000
    ttl_ms: int = 24 * 3_600_000


def is_dlq(queue: str) -> bool:
    return queue.endswith(DLQ_SUFFIX)
