"""A real API server for tests: its own process, its own port, its own database."""

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

import httpx

SECRET = "the-secret-of-a-live-server-0123456789abcdef"
START_S = 30.0


class LiveServer:
    """`forq api` (or `serve`) in a folder; can be started again on the same database."""

    def __init__(self, folder: Path, part: str = "api", **variables: str) -> None:
        self.folder = folder
        self.part = part
        self.database = folder / "forq.db"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("FORQ_")},
            "DJANGO_SETTINGS_MODULE": "forq.settings",
            "FORQ_AUTH_SECRET": SECRET,
            "FORQ_DATA_DIR": str(folder),
            "FORQ_API_ADDR": f"127.0.0.1:{self.port}",
            "FORQ_UI_ADDR": f"127.0.0.1:{free_port()}",
            **variables,
        }
        self.log = folder / "api.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "forq", self.part],
                cwd=self.folder,
                env=self.environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_S
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthcheck", timeout=2).status_code == 204
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """As a power cut would, but for the disk: all its processes at once."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stop(self, timeout: float = 15) -> int:
        """SIGTERM; returns the exit code."""
        assert self.process is not None
        self.process.terminate()
        code = self.process.wait(timeout)
        self.process = None
        return code

    def client(self, **options: object) -> httpx.Client:
        return httpx.Client(
            base_url=self.url,
            headers={"X-API-Key": SECRET},
            timeout=40,
            **options,  # type: ignore[arg-type]  # httpx's own keyword arguments
        )


@contextlib.contextmanager
def live_server(folder: Path, **variables: str) -> Iterator[LiveServer]:
    server = LiveServer(folder, **variables)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port
