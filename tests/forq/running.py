"""Starts the real `forq` command in a folder of its own, on ports of its own."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forq.address import Address

SECRET = "the-secret-of-a-server-under-test-0123456789"
START_S = 30


@dataclass
class Place:
    """A working folder and the environment of a start in it."""

    folder: Path
    api: Address
    ui: Address

    def environ(self, **variables: str) -> dict[str, str]:
        foreign = ("FORQ_", "DJANGO_", "XDG_")
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith(foreign)},
            "HOME": str(self.folder),
            "FORQ_API_ADDR": str(self.api),
            "FORQ_UI_ADDR": str(self.ui),
            **variables,
        }

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "forq", *arguments],
            cwd=self.folder,
            env=self.environ(**variables),
            capture_output=True,
            text=True,
            timeout=START_S,
            check=False,
        )

    @contextlib.contextmanager
    def started(self, *arguments: str, **variables: str) -> Iterator["Running"]:
        out, err = self.folder / "out", self.folder / "err"
        with out.open("wb") as out_file, err.open("wb") as err_file:
            process = subprocess.Popen(
                [sys.executable, "-m", "forq", *arguments],
                cwd=self.folder,
                env=self.environ(**variables),
                stdout=out_file,
                stderr=err_file,
            )
        try:
            yield Running(process, out, err)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(15)


@dataclass
class Running:
    process: subprocess.Popen[bytes]
    _out: Path
    _err: Path

    @property
    def out(self) -> str:
        return self._out.read_text()

    @property
    def err(self) -> str:
        return self._err.read_text()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not condition():
            assert self.process.poll() is None, self.out + self.err
            assert time.monotonic() < deadline, self.out + self.err
            time.sleep(0.02)

    def wait_until_announced(self) -> None:
        self.wait_for(lambda: "Try:" in self.out)

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(15)


def free_addresses(count: int) -> list[Address]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [Address(*each.getsockname()) for each in sockets]


def status(address: Address, path: str) -> int:
    connection = http.client.HTTPConnection(*address, timeout=5)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status


def children(pid: int) -> dict[int, str]:
    """Command lines of a process's children, read off /proc."""
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            stat = (entry / "stat").read_text()
            if int(stat.rpartition(")")[2].split()[1]) == pid:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(entry.name)] = command.decode()
    return found


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
