"""Makes the database ready before anything is served, or says in one line why it cannot be."""

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from forq.config import Config, ConfigError, Durability
from forq.refused import Refused

if TYPE_CHECKING:
    from django.db.migrations.executor import MigrationExecutor

# "FORQ" as SQLite's application_id: tells our file from any other program's.
APPLICATION_ID = 0x464F5251
LOCK_WAIT_S = 30


def django_database(config: Config) -> dict[str, Any]:
    if config.database.kind != "sqlite":
        raise ConfigError(
            "FORQ_DATABASE_URL",
            "names PostgreSQL, which is not yet supported in this version",
            "sqlite:///data/forq.db",
        )
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(config.database.path),
        "OPTIONS": {
            "timeout": LOCK_WAIT_S,
            "transaction_mode": "IMMEDIATE",
            "init_command": _pragmas(config.durability),
        },
    }


def _pragmas(durability: Durability) -> str:
    # Debian builds SQLite with secure_delete on, which doubles what a delete writes.
    return (
        "PRAGMA journal_mode=WAL;"
        f"PRAGMA synchronous={durability.upper()};"
        "PRAGMA secure_delete=OFF;"
        "PRAGMA foreign_keys=ON;"
    )


def prepare_database(config: Config) -> None:
    """Creates or migrates the database; safe when several processes start at once."""
    database = django_database(config)
    path = Path(database["NAME"])
    try:
        _private_directory(config.data_dir)
        _private_directory(path.parent)
        with _alone(path.parent):
            _create_private_file(path)
            _refuse_foreign(path)
            _shape_new(path)
            _migrate(path)
            _mark(path)
    except OSError as error:
        where = error.filename or path
        raise Refused(f"cannot use {where}: {error.strerror}") from error


def _private_directory(path: Path) -> None:
    if not path.is_dir():
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    # The directory itself is locked, so no lock file is left behind.
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _create_private_file(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


@contextlib.contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    uri = f"file:{quote(str(path))}?mode=rw"
    with contextlib.closing(
        sqlite3.connect(uri, uri=True, timeout=LOCK_WAIT_S, isolation_level=None)
    ) as connection:
        yield connection


def _refuse_foreign(path: Path) -> None:
    try:
        with _connection(path) as connection:
            (application_id,) = connection.execute("PRAGMA application_id").fetchone()
            tables = {
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type = 'table'"
                )
            }
            ours = application_id == APPLICATION_ID or (
                # Migrated by hand (manage.py migrate), so never marked.
                application_id == 0
                and "django_migrations" in tables
                and connection.execute(
                    "SELECT 1 FROM django_migrations WHERE app = 'queues'"
                ).fetchone()
            )
    except sqlite3.OperationalError as error:
        raise Refused(f"cannot use {path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise Refused(f"{path} is not a SQLite database; left as it is") from error
    if not ours and (tables or application_id):
        raise Refused(f"{path} is another program's SQLite database; left as it is")


def _shape_new(path: Path) -> None:
    # What can only be chosen before the first table: free pages can later be given back.
    if not path.stat().st_size:
        with _connection(path) as connection:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            connection.execute("PRAGMA journal_mode = WAL")


def _migrate(path: Path) -> None:
    import django
    from django.core.management import call_command
    from django.db import DatabaseError, connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    try:
        executor = MigrationExecutor(connection)
        _refuse_newer(path, executor)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise Refused(f"cannot migrate {path}: {error}") from error
    finally:
        connection.close()


def _refuse_newer(path: Path, executor: "MigrationExecutor") -> None:
    unknown = set(executor.loader.applied_migrations) - set(executor.loader.disk_migrations or ())
    if unknown:
        app, name = min(unknown)
        raise Refused(
            f"{path} was made by a newer Forq (it has {app}.{name}); use that version or a copy"
        )


def _mark(path: Path) -> None:
    with _connection(path) as connection:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        if application_id != APPLICATION_ID:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
