import contextlib
import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from forq.database import APPLICATION_ID
from tests.forq.running import SECRET, Place

PREPARE = """
import os
os.environ["DJANGO_SETTINGS_MODULE"] = "forq.settings"
from forq.config import load
from forq.database import prepare_database
prepare_database(load(os.environ))
"""


def start(place: Place, **variables: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PREPARE],
        cwd=place.folder,
        env=place.environ(FORQ_AUTH_SECRET=SECRET, **variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def prepare(place: Place, **variables: str) -> None:
    process = start(place, **variables)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


def refusal(place: Place, **variables: str) -> str:
    """What `forq api` says: the whole way from the command to the line."""
    done = place.run("api", FORQ_AUTH_SECRET=SECRET, **variables)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def query(path: Path, statement: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement).fetchall()


@pytest.fixture
def database(place: Place) -> Path:
    prepare(place)
    return place.folder / "data" / "forq.db"


def test_a_new_database_is_forqs_and_private(database: Path) -> None:
    assert query(database, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert query(database, "PRAGMA journal_mode") == [("wal",)]
    assert query(database, "SELECT count(*) FROM django_migrations WHERE app = 'queues'") != [(0,)]
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE(database.parent.stat().st_mode) == 0o700
    assert sorted(entry.name for entry in database.parent.iterdir()) == ["forq.db"]


def test_a_second_start_changes_nothing(place: Place, database: Path) -> None:
    before = database.read_bytes()

    prepare(place)

    assert database.read_bytes() == before


def test_an_existing_directory_keeps_its_mode(place: Place) -> None:
    (place.folder / "data").mkdir(mode=0o750)

    prepare(place)

    assert stat.S_IMODE((place.folder / "data").stat().st_mode) == 0o750


def test_the_file_may_lie_elsewhere(place: Place) -> None:
    path = place.folder / "else where" / "50%?.db"

    prepare(place, FORQ_DB_PATH=str(path))

    assert query(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_empty_file_becomes_a_database(place: Place) -> None:
    path = place.folder / "empty.db"
    path.touch()

    prepare(place, FORQ_DB_PATH=str(path))

    assert query(path, "PRAGMA application_id") == [(APPLICATION_ID,)]


def test_a_file_that_is_no_database_is_left_alone(place: Place) -> None:
    path = place.folder / "notes.txt"
    path.write_text("remember the milk\n" * 100)

    assert "notes.txt is not a SQLite database" in refusal(place, FORQ_DB_PATH=str(path))
    assert path.read_text() == "remember the milk\n" * 100


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE contacts (name TEXT)", "PRAGMA application_id = 252006674"]
)
def test_another_programs_database_is_left_alone(place: Place, statement: str) -> None:
    path = place.folder / "other.db"
    query(path, statement)
    before = path.read_bytes()

    assert "other.db is another program's SQLite database" in refusal(place, FORQ_DB_PATH=str(path))
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.glob("other.db*")] == ["other.db"]


def test_another_django_projects_database_is_left_alone(place: Place) -> None:
    path = place.folder / "other.db"
    query(path, "CREATE TABLE django_migrations (id INTEGER, app TEXT, name TEXT, applied TEXT)")
    query(path, "INSERT INTO django_migrations VALUES (1, 'blog', '0001_initial', '2026-01-01')")

    assert "another program's" in refusal(place, FORQ_DB_PATH=str(path))


def test_a_database_migrated_by_hand_is_taken(place: Place) -> None:
    (place.folder / "data").mkdir()
    done = place.run("manage", "migrate", "--verbosity", "0", FORQ_AUTH_SECRET=SECRET)
    assert done.returncode == 0, done.stderr
    database = place.folder / "data" / "forq.db"
    assert query(database, "PRAGMA application_id") == [(0,)]

    prepare(place)

    assert query(database, "PRAGMA application_id") == [(APPLICATION_ID,)]


def test_a_newer_forqs_database_is_left_alone(place: Place, database: Path) -> None:
    query(
        database,
        "INSERT INTO django_migrations (app, name, applied) "
        "VALUES ('queues', '9999_from_the_future', '2030-01-01')",
    )

    line = refusal(place)

    assert "made by a newer Forq" in line
    assert "queues.9999_from_the_future" in line


def test_an_older_schema_is_migrated(place: Place, database: Path) -> None:
    done = place.run("manage", "migrate", "queues", "zero", FORQ_AUTH_SECRET=SECRET)
    assert done.returncode == 0, done.stderr
    applied = "SELECT count(*) FROM django_migrations WHERE app = 'queues'"
    assert query(database, applied) == [(0,)]

    prepare(place)

    assert query(database, applied) != [(0,)]


def test_a_start_waits_for_another_to_be_done(place: Place) -> None:
    directory = place.folder / "data"
    directory.mkdir()
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        process = start(place)
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=2)
        assert list(directory.iterdir()) == []
    finally:
        os.close(descriptor)

    assert process.communicate(timeout=30) == ("", "")
    assert (directory / "forq.db").exists()


def test_starts_at_once_do_not_collide(place: Place) -> None:
    starts = [start(place) for _ in range(4)]
    results = [(*each.communicate(timeout=60), each.returncode) for each in starts]

    assert results == [("", "", 0)] * 4
    doubled = "SELECT app, name FROM django_migrations GROUP BY app, name HAVING count(*) > 1"
    assert query(place.folder / "data" / "forq.db", doubled) == []


def test_a_directory_in_the_files_place_is_refused(place: Place) -> None:
    assert "Is a directory" in refusal(place, FORQ_DB_PATH=str(place.folder))


def test_a_file_in_the_data_directorys_place_is_refused(place: Place) -> None:
    (place.folder / "data").touch()

    assert "cannot use data" in refusal(place)


def test_a_data_directory_that_cannot_be_made_is_refused(place: Place) -> None:
    assert "cannot use /proc/forq" in refusal(place, FORQ_DATA_DIR="/proc/forq")
