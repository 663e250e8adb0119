"""What every store must do, whatever database it stands on.

The tests here know queues.store.interface and the operations, and no SQL. A dialect joins by an
entry in DIALECTS.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from queues.store.interface import Store
from queues.store.sqlite import SQLiteStore
from tests.queues.databases import make_sqlite
from tests.queues.desk import Desk

OpenStore = Callable[[], Store]
OpenDesk = Callable[[], Desk]


def sqlite(folder: Path) -> OpenStore:
    path = make_sqlite(folder / "forq.db")
    return lambda: SQLiteStore(path, full=False)


# How to get an empty database and then any number of stores on it.
DIALECTS: dict[str, Callable[[Path], OpenStore]] = {"sqlite": sqlite}


@pytest.fixture(params=list(DIALECTS))
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> OpenStore:
    """A further store on the test's own database."""
    return DIALECTS[request.param](tmp_path)


@pytest.fixture
async def open_desk(new_store: OpenStore) -> AsyncIterator[OpenDesk]:
    """Opens stores on one database, as several processes would; closes them after the test."""
    desks: list[Desk] = []

    def open_one() -> Desk:
        store = new_store()
        store.open()
        desks.append(Desk(store))
        return desks[-1]

    yield open_one
    for desk in desks:
        await desk.store.close()


@pytest.fixture
def desk(open_desk: OpenDesk) -> Desk:
    return open_desk()
