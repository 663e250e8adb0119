"""Where the messages are kept, as one address."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Database:
    kind: Literal["sqlite", "postgresql"]
    path: Path | None
    url: str = field(repr=False)

    def __str__(self) -> str:
        """Fit for a log: without the password."""
        if self.path is not None:
            return f"SQLite {self.path}"
        parts = urlsplit(self.url)
        return f"PostgreSQL {parts.hostname or 'local'}{parts.path}"


def sqlite_database(path: Path) -> Database:
    return Database("sqlite", path, f"sqlite:///{path}")


def parse_database_url(url: str) -> Database:
    """Raises ValueError with a phrase that does not repeat the address."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise ValueError("not an address like sqlite:///path or postgresql://host/name")
    if scheme == "sqlite":
        return _parse_sqlite(rest)
    if scheme in {"postgresql", "postgres"}:
        return _parse_postgresql(url)
    raise ValueError("of an unknown kind: it must start with sqlite:/// or postgresql://")


def _parse_sqlite(rest: str) -> Database:
    if not rest.startswith("/"):
        raise ValueError("short of a slash: sqlite:///relative or sqlite:////absolute")
    path = unquote(rest[1:])
    if not path or path.endswith("/"):
        raise ValueError("without the name of a file")
    if path == ":memory:" or "\0" in path:
        raise ValueError("not the path of a file")
    if "?" in rest or "#" in rest:
        raise ValueError("followed by options, which Forq does not take")
    return sqlite_database(Path(path))


def _parse_postgresql(url: str) -> Database:
    try:
        parts = urlsplit(url)
        good_port = parts.port != 0
    except ValueError:
        # Its text may repeat the password.
        raise ValueError("malformed after postgresql://") from None
    if not good_port:
        raise ValueError("malformed after postgresql://")
    if not parts.path.strip("/"):
        raise ValueError("without the name of a database")
    return Database("postgresql", None, url)
