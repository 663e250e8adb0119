from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from queues.engine.engine import Engine
from queues.engine.waiting import Waiter
from queues.rules import QueueRules
from queues.store.interface import Committed, Store
from queues.store.operations import Claimed, Operation, Produce
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.desk import Desk, produce
from tests.queues.moved_time import MovedTimeLoop

RULES = QueueRules()
LEASE_MS = 60_000
WAIT_MS = 30_000


@pytest.fixture
def anyio_backend() -> object:
    return "asyncio", {"loop_factory": MovedTimeLoop}


class WatchedStore:
    """The real store, with a record of its groups and a gate where a commit waits for the disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.groups: list[list[Operation]] = []
        self.refusals: list[Exception] = []
        """Raised instead of carrying out a group, one for each."""
        self.disk = asyncio.Event()
        self.disk.set()

    @property
    def next_due_ms(self) -> int | None:
        return self._store.next_due_ms

    def open(self) -> None:
        self._store.open()

    async def commit(self, operations: Sequence[Operation], now_ms: int) -> Committed:
        if self.refusals:
            raise self.refusals.pop(0)
        self.groups.append(list(operations))
        committed = await self._store.commit(operations, now_ms)
        await self.disk.wait()
        return committed

    def changed(self) -> bool:
        return self._store.changed()

    async def ping(self) -> None:
        await self._store.ping()

    async def close(self) -> None:
        await self._store.close()


class Counter:
    """Consumers and producers at one engine."""

    def __init__(self, engine: Engine, store: WatchedStore) -> None:
        self.engine = engine
        self.store = store

    def ask(
        self,
        queue: str = "q",
        *,
        limit: int = 1,
        wait_ms: int = WAIT_MS,
        lease_ms: int = LEASE_MS,
        on_wait: Callable[[Waiter], None] | None = None,
    ) -> Waiter:
        return self.engine.claim(
            queue, limit=limit, lease_ms=lease_ms, wait_ms=wait_ms, on_wait=on_wait
        )

    async def produce(self, *contents: str, queue: str = "q") -> Produce:
        return await self.engine.submit(produce(queue, *contents))

    async def take(self, queue: str = "q", *, limit: int = 1) -> list[Claimed]:
        """What is there now, without waiting."""
        return await self.ask(queue, limit=limit, wait_ms=0).future


def texts(waiter: Waiter) -> list[str] | None:
    """The contents a consumer got; None while it waits."""
    if not waiter.future.done():
        return None
    return [message.content for message in waiter.future.result()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_sqlite(tmp_path / "forq.db")


@pytest.fixture
async def loop() -> MovedTimeLoop:
    running = asyncio.get_running_loop()
    assert isinstance(running, MovedTimeLoop)
    return running


@pytest.fixture
async def store(path: Path) -> WatchedStore:
    return WatchedStore(SQLiteStore(path, full=False))


@pytest.fixture
async def counter(store: WatchedStore, loop: MovedTimeLoop) -> AsyncIterator[Counter]:
    """An engine that has started and taken its first look around."""
    engine = Engine(store, rules=RULES, clock=loop.now_ms)
    engine.start()
    counter = Counter(engine, store)
    await counter.ask(wait_ms=1_000).future
    store.groups.clear()
    yield counter
    store.disk.set()
    await engine.close()


@pytest.fixture
async def other_process(path: Path) -> AsyncIterator[Desk]:
    """A second store on the same database, as another process would have it."""
    other = SQLiteStore(path, full=False)
    other.open()
    yield Desk(other)
    await other.close()
