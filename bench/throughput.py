"""CPU and rate of produce, claim and ack, single and in batches, at both durabilities."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench import lifecycle, yardstick
from bench.lifecycle import Cost, Lifecycle
from bench.report import Report
from bench.server import running

BATCH = 100
CONNECTIONS = (1, 32, 256)
SINGLE_AT = 32
ONE = "1 a transaction"
MANY = f"{BATCH} a transaction"
Key = tuple[str, str, str]
"""Who, at which durability, how."""


def run(report: Report, *, quick: bool) -> None:
    rounds = 1 if quick else 3
    single = 2_000 if quick else 20_000
    batched = 20_000 if quick else 100_000
    results: dict[Key, list[Lifecycle]] = {}

    for _ in range(rounds):
        for durability in ("normal", "full"):
            for key, life in _round(durability, single, batched):
                results.setdefault(key, []).append(life)
    middle = {key: _middle(values) for key, values in results.items()}
    _print(report, middle)
    _judge(report, middle)


def _round(durability: str, single: int, batched: int) -> Iterator[tuple[Key, Lifecycle]]:
    full = durability == "full"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone = ("SQLite alone", durability)
        yield (*alone, ONE), yardstick.lifecycle(folder / "1.db", single, 1, full=full)
        yield (*alone, MANY), yardstick.lifecycle(folder / "n.db", batched, BATCH, full=full)
        with running(folder, FORQ_DURABILITY=durability) as server:
            lifecycle.single(server, SINGLE_AT, 500)
            for connections in CONNECTIONS:
                count = single if connections > 1 else single // 4
                how = f"single, {connections} connections"
                yield ("Forq", durability, how), lifecycle.single(server, connections, count)
            how = f"batches of {BATCH}"
            yield ("Forq", durability, how), lifecycle.batches(server, 8, batched, BATCH)


def _middle(values: list[Lifecycle]) -> Lifecycle:
    def cost(pick: Callable[[Lifecycle], Cost]) -> Cost:
        return Cost(
            median(pick(each).cpu_us for each in values), median(pick(each).rate for each in values)
        )

    return Lifecycle(
        cost(lambda each: each.produce), cost(lambda each: each.claim), cost(lambda each: each.ack)
    )


def _print(report: Report, middle: dict[Key, Lifecycle]) -> None:
    columns = ["", "durability", "produce µs", "claim µs", "ack µs", "life µs", "lives/s"]
    rows = [
        [
            f"{who}, {how}",
            durability,
            life.produce.cpu_us,
            life.claim.cpu_us,
            life.ack.cpu_us,
            life.cpu_us,
            f"{life.rate:,.0f}",
        ]
        for (who, durability, how), life in middle.items()
    ]
    report.table("CPU of all server processes per message", columns, rows)


def _judge(report: Report, middle: dict[Key, Lifecycle]) -> None:
    single = f"single, {SINGLE_AT} connections"
    report.bar(
        "a message's life, single, CPU beside SQLite alone",
        middle["Forq", "normal", single].cpu_us / middle["SQLite alone", "normal", ONE].cpu_us,
        2.5,
    )
    report.bar(
        "a message's life, in batches, CPU beside SQLite alone",
        middle["Forq", "normal", f"batches of {BATCH}"].cpu_us
        / middle["SQLite alone", "normal", MANY].cpu_us,
        2.5,
    )
    report.bar(
        "full durability, rate beside normal",
        middle["Forq", "full", single].rate / middle["Forq", "normal", single].rate,
        0.6,
        at_least=True,
    )
