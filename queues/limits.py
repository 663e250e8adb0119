"""The numbers of the contract."""

from __future__ import annotations

import re
from typing import Final

MAX_CONTENT_BYTES: Final = 262_144
MAX_BODY_BYTES: Final = 2 * 1024 * 1024
MAX_BATCH_BODY_BYTES: Final = 64 * 1024 * 1024
MAX_BATCH: Final = 1_000

PROCESS_AFTER_TOLERANCE_MS: Final = 10_000
PROCESS_AFTER_MAX_AHEAD_MS: Final = 366 * 24 * 3_600_000
MIN_PRIORITY: Final = -100
MAX_PRIORITY: Final = 100
MAX_DEDUP_KEY_CHARS: Final = 128
MAX_REASON_CHARS: Final = 1_024

MAX_WAIT_MS: Final = 30_000
MIN_VISIBILITY_MS: Final = 1_000
MAX_VISIBILITY_MS: Final = 12 * 3_600_000

DEDUP_WINDOW_MS: Final = 5 * 60_000

DLQ_SUFFIX: Final = "-dlq"
QUEUE_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,64}")
DLQ_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,64}-dlq")
