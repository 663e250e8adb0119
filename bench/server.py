"""The real server as a process of its own, and the CPU time it uses."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

SECRET = "the-secret-of-a-server-being-measured-0123456789"
START_S = 60.0


class Server:
    def __init__(self, folder: Path, **variables: str) -> None:
        self.port = _free_port()
        self._folder = folder
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("FORQ_")},
            "FORQ_AUTH_SECRET": SECRET,
            "FORQ_DATA_DIR": str(folder),
            "FORQ_API_ADDR": f"127.0.0.1:{self.port}",
            "FORQ_UI_ADDR": f"127.0.0.1:{_free_port()}",
            "FORQ_LOG_LEVEL": "warning",
            **variables,
        }

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "forq", "api"],
            cwd=self._folder,
            env=self._environ,
            start_new_session=True,
        )
        deadline = time.monotonic() + START_S
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the server did not start")
            time.sleep(0.02)

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()

    def cpu_s(self) -> float:
        """CPU time of all its processes and threads so far."""
        return sum(_cpu_ns(pid) for pid in self._pids()) / 1e9

    def memory_mb(self) -> float:
        """Resident memory of its largest process."""
        page = os.sysconf("SC_PAGE_SIZE")
        sizes = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids()]
        return max(sizes) * page / 1e6

    def _pids(self) -> list[int]:
        pids = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if os.getpgid(int(entry.name)) == self._process.pid:
                        pids.append(int(entry.name))
        return pids


@contextlib.contextmanager
def running(folder: Path, **variables: str) -> Iterator[Server]:
    server = Server(folder, **variables)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _cpu_ns(pid: int) -> int:
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0])
    return total


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port
