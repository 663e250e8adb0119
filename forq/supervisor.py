"""`forq serve`: starts the parts as processes, watches them, and stops them together."""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping

import structlog

from forq import process, serving
from forq.address import Address
from forq.config import Config

STOP_WITHIN_S = 10
ANSWER_WITHIN_S = 30

_NAMES: dict[serving.Part, str] = {"api": "API", "ui": "admin UI", "jobs": "job scheduler"}


def supervise(config: Config, environ: Mapping[str, str], ready: Callable[[], None]) -> int:
    """Runs until told to stop or a part ends; returns the exit code. Calls `ready` once."""
    parts: list[serving.Part] = ["api", "ui", "jobs"] if config.jobs else ["api", "ui"]
    return asyncio.run(Supervisor(config, environ).run(parts, ready))


class Supervisor:
    def __init__(self, config: Config, environ: Mapping[str, str]) -> None:
        self._config = config
        self._environ = environ
        self._children: dict[serving.Part, Process] = {}
        self._log = structlog.get_logger("forq.supervisor")

    async def run(self, parts: list[serving.Part], ready: Callable[[], None]) -> int:
        told_to_stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, told_to_stop.set)
        for part in parts:
            self._children[part] = await self._spawn(part)

        stop = asyncio.create_task(told_to_stop.wait())
        death = asyncio.create_task(self._first_death())
        answer = asyncio.create_task(self._answers())
        try:
            await asyncio.wait({stop, death, answer}, return_when=asyncio.FIRST_COMPLETED)
            failed = False
            if answer.done() and not (stop.done() or death.done()):
                if answer.result():
                    ready()
                    await asyncio.wait({stop, death}, return_when=asyncio.FIRST_COMPLETED)
                else:
                    self._log.error(
                        f"the API did not answer /healthcheck within {ANSWER_WITHIN_S} s; stopping"
                    )
                    failed = True
            if death.done() and not stop.done():
                self._report_death(death.result())
                failed = True
        finally:
            for task in (stop, death, answer):
                task.cancel()
            clean = await self._stop_children()
        return 0 if clean and not failed else 1

    async def _spawn(self, part: serving.Part) -> Process:
        return await asyncio.create_subprocess_exec(
            *serving.command(part),
            str(os.getpid()),
            env=dict(self._environ),
            stdin=asyncio.subprocess.DEVNULL,
            # Its own group: Ctrl-C reaches only us, and we stop the parts gracefully.
            process_group=0,
        )

    async def _first_death(self) -> serving.Part:
        waits = {asyncio.create_task(c.wait()): part for part, c in self._children.items()}
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        return waits[done.pop()]

    def _report_death(self, part: serving.Part) -> None:
        code = self._children[part].returncode
        how = "ended" if code is None else process.outcome(code)
        self._log.error(f"the {_NAMES[part]} process ended by itself ({how}); stopping the rest")

    async def _answers(self) -> bool:
        address = self._config.api_addr.reachable()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_WITHIN_S):
                while not await _is_healthy(address):  # noqa: ASYNC110 - another process's state
                    await asyncio.sleep(0.05)
                return True
        return False

    async def _stop_children(self) -> bool:
        """True when every part that was told to go went in time and without complaint."""
        living = {part: c for part, c in self._children.items() if c.returncode is None}
        for child in living.values():
            with contextlib.suppress(ProcessLookupError):
                child.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_WITHIN_S):
                for child in living.values():
                    await child.wait()
        clean = True
        for part, child in living.items():
            if child.returncode is None:
                clean = False
                self._log.error(f"the {_NAMES[part]} process did not stop in time; killing it")
            # SIGTERM itself ends a process that has only just begun.
            elif child.returncode not in (0, -signal.SIGTERM):
                clean = False
                how = process.outcome(child.returncode)
                self._log.error(f"the {_NAMES[part]} process did not stop cleanly ({how})")
        for child in self._children.values():
            # The whole group: a server that was killed leaves its workers behind.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()
        return clean


async def _is_healthy(address: Address) -> bool:
    try:
        reader, writer = await asyncio.open_connection(*address)
        try:
            request = f"GET /healthcheck HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
            writer.write(request.encode())
            status = await reader.readline()
        finally:
            writer.close()
    except OSError:
        return False
    return status.split(b" ")[1:2] == [b"204"]
