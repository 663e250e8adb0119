"""What the system knows of a server's processes."""

from __future__ import annotations

import os
from pathlib import Path

from tests.forq.running import children
from tests.live import LiveServer

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def family(pid: int) -> list[int]:
    """A process and all that came from it."""
    found = [pid]
    for each in found:
        found += children(each)
    return found


def workers(server: LiveServer) -> list[int]:
    """The processes that serve requests: those without children of their own."""
    assert server.process is not None
    return [pid for pid in family(server.process.pid) if not children(pid)]


def cpu_s(pid: int) -> float:
    """CPU time a process has used, in user and kernel mode."""
    user, system = _stat(pid)[11:13]
    return (int(user) + int(system)) / _TICKS


def rss_bytes(pid: int) -> int:
    return int(_stat(pid)[21]) * _PAGE


def open_files(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
