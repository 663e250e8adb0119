"""The environment variables Forq is set up with, read once and refused when odd."""

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar, get_args

from forq.address import Address, parse_address
from forq.database_url import Database, parse_database_url, sqlite_database
from forq.refused import Refused

Durability = Literal["full", "normal"]
Environment = Literal["local", "pro"]
LogFormat = Literal["console", "json"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]

VARIABLES = (
    "FORQ_API_ADDR",
    "FORQ_API_WORKERS",
    "FORQ_AUTH_SECRET",
    "FORQ_AUTH_SECRET_FILE",
    "FORQ_DATABASE_URL",
    "FORQ_DATA_DIR",
    "FORQ_DB_PATH",
    "FORQ_DLQ_TTL_HOURS",
    "FORQ_DURABILITY",
    "FORQ_ENV",
    "FORQ_JOBS",
    "FORQ_JOURNAL",
    "FORQ_LOG_FORMAT",
    "FORQ_LOG_LEVEL",
    "FORQ_METRICS_AUTH_SECRET",
    "FORQ_METRICS_ENABLED",
    "FORQ_QUEUE_TTL_HOURS",
    "FORQ_TRUST_PROXY_HEADERS",
    "FORQ_UI_ADDR",
)

HOUR_MS = 3_600_000
TEN_YEARS_HOURS = 87_600
SECRET_MIN = 32
# Must fit a request header line with room for the header's name.
SECRET_MAX = 4096
SECRET_EXAMPLE = "$(openssl rand -hex 32)"  # noqa: S105 - a command that makes one

_TRUE = frozenset({"true", "1", "on", "yes"})
_FALSE = frozenset({"false", "0", "off", "no"})
_Choice = TypeVar("_Choice", bound=str)


class ConfigError(Refused):
    """A variable is missing or odd."""

    def __init__(self, variable: str, problem: str, example: str) -> None:
        super().__init__(f"{variable} {problem}; example: {variable}={example}")
        self.variable = variable


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    auth_secret: str = field(repr=False)
    auth_secret_file: Path | None
    database: Database
    data_dir: Path
    durability: Durability
    api_addr: Address
    ui_addr: Address
    api_workers: int
    env: Environment
    queue_ttl_ms: int
    dlq_ttl_ms: int
    metrics_enabled: bool
    metrics_secret: str | None = field(repr=False)
    trust_proxy_headers: bool
    jobs: bool
    journal: bool
    log_format: LogFormat
    log_level: LogLevel


def load(environ: Mapping[str, str]) -> Config:
    read = _Reader(environ)
    auth_secret, auth_secret_file = read.auth_secret()
    data_dir = Path(read.text("FORQ_DATA_DIR", "./data"))
    database = read.database(data_dir)
    api_addr, ui_addr = read.addresses()
    metrics_enabled = read.boolean("FORQ_METRICS_ENABLED", default=False)
    return Config(
        auth_secret=auth_secret,
        auth_secret_file=auth_secret_file,
        database=database,
        data_dir=data_dir,
        durability=read.choice("FORQ_DURABILITY", get_args(Durability), "full"),
        api_addr=api_addr,
        ui_addr=ui_addr,
        api_workers=read.integer(
            "FORQ_API_WORKERS", 1 if database.kind == "sqlite" else _cores(), 1, 256
        ),
        env=read.choice("FORQ_ENV", get_args(Environment), "pro"),
        queue_ttl_ms=read.integer("FORQ_QUEUE_TTL_HOURS", 24, 1, TEN_YEARS_HOURS) * HOUR_MS,
        dlq_ttl_ms=read.integer("FORQ_DLQ_TTL_HOURS", 168, 1, TEN_YEARS_HOURS) * HOUR_MS,
        metrics_enabled=metrics_enabled,
        metrics_secret=read.metrics_secret(required=metrics_enabled),
        trust_proxy_headers=read.boolean("FORQ_TRUST_PROXY_HEADERS", default=False),
        jobs=read.boolean("FORQ_JOBS", default=True),
        journal=read.boolean("FORQ_JOURNAL", default=True),
        log_format=read.choice(
            "FORQ_LOG_FORMAT",
            get_args(LogFormat),
            "console" if sys.stderr.isatty() else "json",
        ),
        log_level=read.choice("FORQ_LOG_LEVEL", get_args(LogLevel), "info"),
    )


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """One line for each FORQ_ variable that Forq does not read: most are misspelt."""
    lines = []
    for name in sorted(environ):
        if name.startswith("FORQ_") and name not in VARIABLES:
            closest = difflib.get_close_matches(name, VARIABLES, n=1, cutoff=0)[0]
            lines.append(f"{name} is not a setting of Forq and has no effect; meant: {closest}?")
    return lines


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shown(value: str) -> str:
    return repr(value if len(value) <= 60 else value[:60] + "…")


class _Reader:
    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def _given(self, name: str, example: str) -> str | None:
        value = self._environ.get(name)
        if value is not None and not value.strip():
            raise ConfigError(name, "is set but empty: unset it or give it a value", example)
        return value

    def text(self, name: str, default: str) -> str:
        value = self._given(name, default)
        if value is not None and "\0" in value:
            raise ConfigError(name, "holds a NUL character", default)
        return default if value is None else value

    def choice(self, name: str, choices: tuple[_Choice, ...], default: _Choice) -> _Choice:
        value = self._given(name, default)
        if value is None:
            return default
        for choice in choices:
            if value == choice:
                return choice
        expected = " or ".join(choices)
        raise ConfigError(name, f"is {_shown(value)} but must be {expected}", default)

    def boolean(self, name: str, *, default: bool) -> bool:
        example = "true" if default else "false"
        value = self._given(name, example)
        if value is None:
            return default
        if value.lower() in _TRUE:
            return True
        if value.lower() in _FALSE:
            return False
        raise ConfigError(
            name, f"is {_shown(value)} but must be true/false, 1/0, on/off or yes/no", example
        )

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        value = self._given(name, str(default))
        if value is None:
            return default
        # The length check keeps int() from being fed digits without end.
        if not (value.isascii() and value.isdecimal() and len(value) <= 18):
            raise ConfigError(name, f"is {_shown(value)}, not a whole number", str(default))
        number = int(value)
        if not least <= number <= most:
            raise ConfigError(name, f"is {number} but must be {least} to {most}", str(default))
        return number

    def auth_secret(self) -> tuple[str, Path | None]:
        name, file_name = "FORQ_AUTH_SECRET", "FORQ_AUTH_SECRET_FILE"
        file_example = "/run/secrets/forq"
        value = self._given(name, SECRET_EXAMPLE)
        file_value = self._given(file_name, file_example)
        if file_value is None:
            if value is None:
                raise ConfigError(
                    name, "is missing (or name a file in FORQ_AUTH_SECRET_FILE)", SECRET_EXAMPLE
                )
            return _checked_secret(name, value, SECRET_EXAMPLE), None
        if value is not None:
            raise ConfigError(file_name, "is set as well as FORQ_AUTH_SECRET", file_example)
        path = Path(file_value)
        try:
            content = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            problem = f"names {_shown(file_value)}, which cannot be read: {reason}"
            raise ConfigError(file_name, problem, file_example) from None
        return _checked_secret(file_name, content.rstrip("\r\n"), file_example), path

    def metrics_secret(self, *, required: bool) -> str | None:
        name = "FORQ_METRICS_AUTH_SECRET"
        value = self._given(name, SECRET_EXAMPLE)
        if value is not None:
            return _checked_secret(name, value, SECRET_EXAMPLE)
        if required:
            raise ConfigError(name, "is missing though FORQ_METRICS_ENABLED is on", SECRET_EXAMPLE)
        return None

    def addresses(self) -> tuple[Address, Address]:
        api = self._address("FORQ_API_ADDR", "localhost:8080")
        ui = self._address("FORQ_UI_ADDR", "localhost:8081")
        if api == ui:
            raise ConfigError("FORQ_UI_ADDR", f"is {ui}, the same as the API's", "localhost:8081")
        return api, ui

    def _address(self, name: str, default: str) -> Address:
        value = self._given(name, default)
        try:
            return parse_address(default if value is None else value)
        except ValueError as error:
            raise ConfigError(name, f"is {_shown(value or '')}, {error}", default) from None

    def database(self, data_dir: Path) -> Database:
        name, path_name = "FORQ_DATABASE_URL", "FORQ_DB_PATH"
        url_example, path_example = "sqlite:///data/forq.db", "data/forq.db"
        url = self._given(name, url_example)
        path = self._given(path_name, path_example)
        if path is not None and ("\0" in path or path == ":memory:"):
            raise ConfigError(path_name, f"is {_shown(path)}, not the path of a file", path_example)
        if url is None:
            return sqlite_database(data_dir / "forq.db" if path is None else Path(path))
        try:
            database = parse_database_url(url)
        except ValueError as error:
            # The address may hold a password, so it is not shown.
            raise ConfigError(name, f"is {error}", url_example) from None
        if path is not None and (
            database.path is None or Path(path).resolve() != database.path.resolve()
        ):
            raise ConfigError(
                path_name, "names another database than FORQ_DATABASE_URL", path_example
            )
        return database


def _checked_secret(name: str, value: str, example: str) -> str:
    if len(value) < SECRET_MIN:
        problem = f"is {len(value)} characters long but must have at least {SECRET_MIN}"
    elif len(value) > SECRET_MAX:
        problem = f"is {len(value)} characters long but may have at most {SECRET_MAX}"
    elif not (value.isascii() and value.isprintable()) or value != value.strip():
        problem = "cannot travel in a header: use printable ASCII, no space at either end"
    else:
        return value
    raise ConfigError(name, problem, example)
