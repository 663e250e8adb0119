"""What a person sees once Forq serves."""

import sys
from pathlib import Path
from typing import TextIO

from forq import __version__
from forq.config import Config


def show(config: Config, *, secret: str | None, stream: TextIO | None = None) -> None:
    """Prints the banner; `secret` is shown as it is, so it is given in dev mode only."""
    stream = stream or sys.stdout
    rows = _rows(config, secret)
    try_it = _try_it(config)
    if stream.isatty():
        _rich(rows, try_it, stream)
    else:
        width = max(len(name) for name, _ in rows) + 2
        lines = [f"Forq {__version__}", *(f"  {name:<{width}}{text}" for name, text in rows)]
        print("\n".join([*lines, "Try:", f"  {try_it}"]), file=stream, flush=True)


def _rows(config: Config, secret: str | None) -> list[tuple[str, str]]:
    api = config.api_addr.reachable()
    rows = [
        ("API", f"http://{config.api_addr}"),
        ("Admin UI", f"http://{config.ui_addr}"),
        ("Docs", f"http://{api}/api/docs"),
        ("Database", f"{config.database}, durability {config.durability}"),
        ("Secret in", str(config.auth_secret_file or "FORQ_AUTH_SECRET")),
    ]
    if secret is not None:
        rows.append(("Secret", secret))
    return rows


def _try_it(config: Config) -> str:
    key = "$FORQ_AUTH_SECRET" if config.auth_secret_file is None else _cat(config.auth_secret_file)
    return (
        f'curl -i -H "X-API-Key: {key}" -d \'{{"content": "hello"}}\' '
        f"http://{config.api_addr.reachable()}/api/v1/queues/demo/messages"
    )


def _cat(path: Path) -> str:
    return f"$(cat {path})"


def _rich(rows: list[tuple[str, str]], try_it: str, stream: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=stream, highlight=False)
    table = Table.grid(padding=(0, 2))
    for name, text in rows:
        table.add_row(Text(f"  {name}", style="dim"), Text(text))
    console.print(Text(f"\nForq {__version__}", style="bold green"))
    console.print(table)
    console.print(Text("\nTry", style="bold"))
    # soft_wrap: a line a person copies must not be broken by us.
    console.print(Text(f"  {try_it}\n"), soft_wrap=True)
