"""`make bench`: measures, prints a table, and says where a bar is not met."""

from __future__ import annotations

import argparse
import sys

from bench import backlog, throughput, waiting
from bench.report import Report

SUITES = {"throughput": throughput.run, "backlog": backlog.run, "waiting": waiting.run}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("suites", nargs="*", choices=[*SUITES, []], help="all, if none is named")
    parser.add_argument("--quick", action="store_true", help="a tenth of the messages, one round")
    arguments = parser.parse_args()
    report = Report()
    for name in arguments.suites or SUITES:
        SUITES[name](report, quick=arguments.quick)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
