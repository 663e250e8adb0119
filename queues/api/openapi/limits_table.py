"""The limits, in words and with the numbers that are enforced."""

from __future__ import annotations

from queues import limits
from queues.api import auth
from queues.api.openapi.fields import number
from queues.rules import QueueRules

_MIB = 1024 * 1024


def limit_rows(queue_ttl_ms: int, dlq_ttl_ms: int) -> dict[str, str]:
    rules = QueueRules()
    delays = ", ".join(f"{delay_ms // 1_000}" for delay_ms in rules.backoff_ms)
    return {
        "Queue name": (
            f"{limits.QUEUE_NAME.pattern}, and {limits.DLQ_SUFFIX} for its dead letters"
        ),
        "Content of a message": f"{limits.MAX_CONTENT_BYTES:,} bytes of UTF-8",
        "Body of a request": (
            f"{limits.MAX_BODY_BYTES // _MIB} MiB; "
            f"{limits.MAX_BATCH_BODY_BYTES // _MIB} MiB for a batch"
        ),
        "Messages in one call": f"{limits.MAX_BATCH:,}",
        "processAfter": (
            f"{limits.PROCESS_AFTER_MAX_AHEAD_MS // 86_400_000} days ahead; up to "
            f"{limits.PROCESS_AFTER_TOLERANCE_MS // 1_000} s in the past are taken as now"
        ),
        "priority": f"{number(limits.MIN_PRIORITY)} to {limits.MAX_PRIORITY}",
        "dedupKey": (
            f"{limits.MAX_DEDUP_KEY_CHARS} characters; held until "
            f"{limits.DEDUP_WINDOW_MS // 60_000} minutes after the message left"
        ),
        "reason": f"{limits.MAX_REASON_CHARS:,} characters",
        "Waiting for a message": f"{limits.MAX_WAIT_MS // 1_000} s",
        "Lease": (
            f"{rules.visibility_ms // 60_000} minutes, or what the claim says: "
            f"{limits.MIN_VISIBILITY_MS // 1_000} s to "
            f"{limits.MAX_VISIBILITY_MS // 3_600_000} hours"
        ),
        "Deliveries of a message": (
            f"{rules.max_attempts}; after a nack the next waits {delays} s, by attempt"
        ),
        "Life of a message": (
            f"{queue_ttl_ms / 3_600_000:g} hours from when it is available; "
            f"{dlq_ttl_ms / 3_600_000:g} hours in a dead-letter queue"
        ),
        "Wrong keys": (
            f"{auth.FAILURES} from one address within {auth.WINDOW_S:g} s; "
            f"then that address has to wait {auth.WINDOW_S:g} s"
        ),
    }
