"""Locks, full disks and failing syncs: nothing is lost, half done, or answered too early."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from queues.store.interface import StoreBusy, StoreUnavailable
from queues.store.operations import Ack, Claim, Due, NewMessage, Operation, Settled
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.desk import LEASE_MS, RULES, Desk, contents, produce

pytestmark = pytest.mark.anyio
T = 1_700_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_sqlite(tmp_path / "forq.db")


@contextlib.asynccontextmanager
async def opened(path: Path, *, full: bool = False) -> AsyncIterator[Desk]:
    store = SQLiteStore(path, full=full)
    store.open()
    try:
        yield Desk(store)
    finally:
        await store.close()


@pytest.fixture
async def desk(path: Path) -> AsyncIterator[Desk]:
    async with opened(path) as desk:
        yield desk


@pytest.fixture
async def full_desk(path: Path) -> AsyncIterator[Desk]:
    async with opened(path, full=True) as desk:
        yield desk


@pytest.fixture
def stranger(path: Path) -> Iterator[sqlite3.Connection]:
    """Another process's connection."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        yield connection


@contextlib.contextmanager
def disk_full(desk: Desk) -> Iterator[None]:
    """The database cannot grow any more."""
    db = desk.store._db  # type: ignore[attr-defined]
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages}")
    yield
    db.execute(f"PRAGMA max_page_count = {1 << 30}")


HUGE = "x" * 1_000_000


async def test_a_locked_database_is_busy_and_nothing_is_done(
    desk: Desk, stranger: sqlite3.Connection
) -> None:
    await desk.produce("q", "a", now=T)
    (a,) = await desk.claim("q", now=T)
    new, ack = produce("q", "b"), Ack("q", [Settled(a.id, a.receipt)])
    stranger.execute("BEGIN IMMEDIATE")

    for _ in range(3):
        with pytest.raises(StoreBusy):
            await desk.commit(new, ack, now=T)
    assert (new.error, ack.error) == (None, None)
    stranger.execute("ROLLBACK")
    await desk.commit(new, ack, now=T)

    assert (new.error, ack.error, ack.done) == (None, None, [True])
    assert contents(await desk.claim_due("q", 10, now=T + LEASE_MS)) == ["b"]


async def test_a_reader_is_no_obstacle(desk: Desk, stranger: sqlite3.Connection) -> None:
    await desk.produce("q", "a", now=T)
    stranger.execute("BEGIN")
    stranger.execute("SELECT * FROM messages").fetchall()

    await desk.produce("q", "b", now=T)

    assert contents(await desk.claim("q", 10, now=T)) == ["a", "b"]


async def test_a_lock_taken_between_the_two_tries_of_a_group_leaves_nothing_behind(
    desk: Desk, stranger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group with a failing operation is carried out a second time, one by one."""
    await desk.commit(now=T)
    store = desk.store
    rollback = store._rollback  # type: ignore[attr-defined]

    def rollback_and_lose_the_lock() -> None:
        rollback()
        stranger.execute("BEGIN IMMEDIATE")

    monkeypatch.setattr(store, "_rollback", rollback_and_lose_the_lock)
    good, bad = produce("q", "fine"), produce("q", "\ud800")
    with pytest.raises(StoreBusy):
        await desk.commit(good, bad, now=T)
    monkeypatch.undo()
    assert (good.error, bad.error) == (None, None)
    stranger.execute("ROLLBACK")

    await desk.commit(good, bad, now=T)

    assert good.error is None
    assert bad.error is not None
    assert contents(await desk.claim("q", 10, now=T)) == ["fine"]


async def test_a_full_disk_fails_the_whole_group_and_leaves_nothing_of_it(desk: Desk) -> None:
    await desk.produce("q", "a", now=T)
    (a,) = await desk.claim("q", now=T)
    small, huge = produce("q", "small"), produce("q", HUGE)
    ack, claim = Ack("q", [Settled(a.id, a.receipt)]), Claim("q", 10, LEASE_MS)
    group: list[Operation] = [small, huge, ack, claim]

    with disk_full(desk):
        await desk.commit(*group, now=T)

        assert [type(each.error) for each in group] == [StoreUnavailable] * 4
        assert await desk.claim("q", 10, now=T) == []
        assert await desk.ack("q", a, now=T) == [True]
        await desk.produce("q", "fits", now=T)

    await desk.produce("q", HUGE, now=T)
    assert contents(await desk.claim("q", 10, now=T)) == ["fits", HUGE]


async def test_a_full_disk_is_not_taken_for_a_bad_operation(desk: Desk) -> None:
    """Found while the operations of a group are carried out one by one."""
    bad, good, huge = produce("q", "\ud800"), produce("q", "fine"), produce("q", HUGE)

    with disk_full(desk):
        await desk.commit(bad, good, huge, now=T)

    assert [type(each.error) for each in (bad, good, huge)] == [StoreUnavailable] * 3
    assert await desk.claim("q", 10, now=T) == []


async def test_a_queue_made_in_a_failed_group_can_be_made_again(desk: Desk) -> None:
    with disk_full(desk):
        await desk.commit(produce("new", "a"), produce("new", HUGE), now=T)
        await desk.produce("newer", "b", now=T)
        await desk.produce("new", "c", now=T)

    assert contents(await desk.claim("new", 10, now=T)) == ["c"]
    assert contents(await desk.claim("newer", 10, now=T)) == ["b"]


async def test_time_that_passed_in_a_failed_group_is_still_to_pass(desk: Desk) -> None:
    await desk.produce("q", NewMessage("delayed", process_after=T + 100), "leased", now=T)
    await desk.claim("q", now=T, lease_ms=200)

    with disk_full(desk):
        await desk.commit(Due(RULES), produce("q", HUGE), now=T + 500)

    assert desk.store.next_due_ms is not None
    assert desk.store.next_due_ms <= T + 100
    assert contents(await desk.claim_due("q", 10, now=T + 500)) == ["delayed", "leased"]


async def test_anothers_commit_is_not_forgotten_over_a_failed_group(desk: Desk, path: Path) -> None:
    await desk.commit(now=T)
    async with opened(path) as other:
        await other.produce("q", "a", now=T)
    with disk_full(desk):
        committed = await desk.commit(produce("elsewhere", HUGE), now=T)

    assert committed.foreign or desk.store.changed()


async def test_a_full_commit_returns_after_the_log_was_synced_with_it(
    full_desk: Desk, path: Path, stranger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = path.with_name("forq.db-wal").stat().st_ino
    seen: list[object] = []
    fdatasync = os.fdatasync

    def spy(descriptor: int) -> None:
        rows = stranger.execute("SELECT count(*) FROM messages").fetchall()
        seen.append((os.fstat(descriptor).st_ino == log, *rows[0]))
        fdatasync(descriptor)

    monkeypatch.setattr(os, "fdatasync", spy)
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as stranger:
        await full_desk.produce("q", "a", now=T)
        assert seen == [(True, 1)]
        await full_desk.produce("q", "b", now=T)
        assert seen == [(True, 1), (True, 2)]


async def test_one_sync_serves_the_whole_group(
    full_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncs: list[int] = []
    monkeypatch.setattr(os, "fdatasync", syncs.append)

    await full_desk.commit(*(produce("q", str(n)) for n in range(100)), now=T)

    assert len(syncs) == 1


async def test_the_log_is_still_the_one_that_is_synced_after_it_started_over(
    full_desk: Desk, path: Path, stranger: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await full_desk.produce("q", "a", now=T)
    stranger.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", lambda fd: synced.append(os.fstat(fd).st_ino))

    await full_desk.produce("q", "b", now=T)

    assert synced == [path.with_name("forq.db-wal").stat().st_ino]
    assert path.with_name("forq.db-wal").stat().st_size > 0


async def test_a_duplicate_of_what_another_process_has_not_synced_yet_is_no_promise(
    full_desk: Desk, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer to the second says that the first is stored."""
    keyed = NewMessage("a", dedup_key="k")
    await full_desk.commit(now=T)
    async with opened(path) as other:
        (given,) = await other.produce("q", keyed, now=T)
        syncs: list[int] = []
        monkeypatch.setattr(os, "fdatasync", syncs.append)

        assert await full_desk.produce("q", keyed, now=T) == [given]

    assert len(syncs) == 1


async def test_a_normal_commit_does_not_sync(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs: list[int] = []
    monkeypatch.setattr(os, "fdatasync", syncs.append)
    monkeypatch.setattr(os, "fsync", syncs.append)

    await desk.produce("q", "a", now=T)

    assert syncs == []


async def test_a_failed_sync_fails_every_operation_of_its_group(
    full_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    claim = Claim("q", 10, LEASE_MS)
    group: list[Operation] = [produce("q", "a"), claim, Ack("q", [Settled(1)])]
    with monkeypatch.context() as failing:
        failing.setattr(os, "fdatasync", fail)
        await full_desk.commit(*group, now=T)

    assert [type(each.error) for each in group] == [StoreUnavailable] * 3


async def test_after_a_failed_sync_nothing_is_written_any_more(
    full_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the kernel could not write it may have dropped; later answers would rest on it."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as failing:
        failing.setattr(os, "fdatasync", fail)
        await full_desk.commit(produce("q", "a"), now=T)

    with pytest.raises(StoreUnavailable, match="restart"):
        await full_desk.produce("q", "b", now=T)
    with pytest.raises(StoreUnavailable, match="restart"):
        await full_desk.store.ping()


async def test_a_claim_rewrites_a_large_message_in_place(desk: Desk, path: Path) -> None:
    """Rows keep their size on a first claim, so that the content's pages are not written again."""
    log = path.with_name("forq.db-wal")
    for message in (
        NewMessage("x" * 200_000),
        NewMessage("x" * 200_000, priority=-100, dedup_key="k"),
        NewMessage("x" * 200_000, process_after=T - 9_000, priority=100),
    ):
        await desk.produce("q", message, now=T)
        before = log.stat().st_size
        await desk.claim("q", now=T + 12_345, lease_ms=12 * 3_600_000)
        assert log.stat().st_size - before < 50_000


async def test_an_api_process_can_start_while_another_writes(
    path: Path, stranger: sqlite3.Connection
) -> None:
    stranger.execute("BEGIN IMMEDIATE")

    async with opened(path, full=True) as desk:
        with pytest.raises(StoreBusy):
            await desk.produce("q", "a", now=T)
        stranger.execute("ROLLBACK")
        await desk.produce("q", "a", now=T)


async def test_a_file_that_was_replaced_is_noticed(desk: Desk, path: Path) -> None:
    await desk.store.ping()
    shutil.move(path, f"{path}.old")
    with pytest.raises(StoreUnavailable):
        await desk.store.ping()
    make_sqlite(path)
    with pytest.raises(StoreUnavailable):
        await desk.store.ping()


def names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "missing.db", full=False)

    with pytest.raises(sqlite3.OperationalError):
        store.open()

    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["50%25.db", "what?.db", "a#b.db", "a b.db", "é.db"])
async def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    async with opened(make_sqlite(tmp_path / name), full=True) as desk:
        await desk.produce("q", "a", now=T)

    assert names(tmp_path) == [name]
