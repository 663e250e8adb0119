"""The job scheduler's process. It has no jobs to run in this release."""

import signal
import threading

import structlog

from forq.config import Config


def run(config: Config) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    log = structlog.get_logger("forq.jobs")
    log.info("job scheduler started; this release has no jobs yet", database=str(config.database))
    stop.wait()
