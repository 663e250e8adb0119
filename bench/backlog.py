"""Claim and ack in a table with a million messages that are none of their business."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from bench import lifecycle
from bench.report import Report
from bench.server import running
from queues import clock, ids
from queues.store import statements
from queues.store.sqlite import connect

DAY_MS = 24 * 3_600_000


def run(report: Report, *, quick: bool) -> None:
    others = 100_000 if quick else 1_000_000
    count = 4_000 if quick else 20_000
    rounds = 2 if quick else 3
    with tempfile.TemporaryDirectory() as name:
        folders = {}
        for what in ("empty", "delayed", "foreign"):
            folder = folders[what] = Path(name) / what
            folder.mkdir()
            with running(folder):
                pass
            if what != "empty":
                _fill(folder / "forq.db", others, delayed=what == "delayed")
        cpu: dict[str, list[float]] = {what: [] for what in folders}
        for _ in range(rounds):
            for what, folder in folders.items():
                with running(folder, FORQ_DURABILITY="normal") as server:
                    lifecycle.single(server, 32, 500)
                    life = lifecycle.single(server, 32, count)
                    cpu[what].append(life.claim.cpu_us + life.ack.cpu_us)
        middle = {what: median(values) for what, values in cpu.items()}
    titles = {
        "empty": "empty table",
        "delayed": f"behind {others:,} delayed messages",
        "foreign": f"beside {others:,} messages of 100 other queues",
    }
    report.table(
        "Claim + ack, CPU of all server processes",
        ["", "µs", "ratio"],
        [[titles[w], middle[w], f"{middle[w] / middle['empty']:.2f}"] for w in middle],
    )
    for what in ("delayed", "foreign"):
        report.bar(f"claim + ack {titles[what]}", middle[what] / middle["empty"], 1.2)


def _fill(path: Path, count: int, *, delayed: bool) -> None:
    """Messages of the same queue that are not due, or ready ones of a hundred other queues."""
    db = connect(path)
    now = clock.now_ms()
    names = ["bench"] if delayed else [f"other-{number}" for number in range(100)]
    numbers = [db.execute(statements.ADD_QUEUE, (each, now)).fetchall()[0][0] for each in names]
    status = statements.DELAYED if delayed else statements.READY
    due = now + DAY_MS if delayed else now
    source = ids.IdSource()
    content = lifecycle.CONTENT
    started = time.monotonic()
    db.execute("BEGIN")
    db.executemany(
        statements.PRODUCE,
        (
            (
                key,
                ids.new_tail(),
                numbers[key % len(numbers)],
                status,
                0,
                due + key % 1000,
                now,
                due + DAY_MS,
                None,
                content,
            )
            for key in source.take(count, now)
        ),
    )
    db.execute("COMMIT")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    print(f"filled {count:,} rows in {time.monotonic() - started:.0f} s", flush=True)
