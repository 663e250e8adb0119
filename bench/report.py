"""Tables and bars."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table


class Report:
    def __init__(self) -> None:
        self._console = Console(width=None if Console().is_terminal else 120)
        self._missed: list[str] = []

    def table(self, title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        table = Table(title=title, title_justify="left")
        for at, column in enumerate(columns):
            table.add_column(column, justify="right" if at else "left")
        for row in rows:
            table.add_row(
                *[f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in row]
            )
        self._console.print(table)

    def bar(self, what: str, value: float, limit: float, *, at_least: bool = False) -> None:
        """A value that must not pass its limit."""
        met = value >= limit if at_least else value <= limit
        word = "at least" if at_least else "at most"
        mark = "[green]met[/green]" if met else "[red]MISSED[/red]"
        self._console.print(f"{mark}  {what}: {value:.2f}, {word} {limit:g}")
        if not met:
            self._missed.append(what)

    def finish(self) -> int:
        if self._missed:
            self._console.print(f"[red]{len(self._missed)} bar(s) missed[/red]")
        return 1 if self._missed else 0
