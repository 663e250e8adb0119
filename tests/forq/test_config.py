import os
from pathlib import Path

import pytest

from forq.address import Address
from forq.config import VARIABLES, Config, ConfigError, load, unknown_variables

SECRET = "s" * 32
OTHER_SECRET = "m" * 32


def config(**variables: str) -> Config:
    return load({"FORQ_AUTH_SECRET": SECRET, **variables})


def test_the_defaults_are_the_contracts() -> None:
    got = config()

    assert got.auth_secret == SECRET
    assert got.auth_secret_file is None
    assert got.data_dir == Path("data")
    assert got.database.kind == "sqlite"
    assert got.database.path == Path("data/forq.db")
    assert got.database.url == "sqlite:///data/forq.db"
    assert got.durability == "full"
    assert got.api_addr == Address("localhost", 8080)
    assert got.ui_addr == Address("localhost", 8081)
    assert got.api_workers == 1
    assert got.env == "pro"
    assert got.queue_ttl_ms == 24 * 3_600_000
    assert got.dlq_ttl_ms == 168 * 3_600_000
    assert got.metrics_enabled is False
    assert got.metrics_secret is None
    assert got.trust_proxy_headers is False
    assert got.jobs is True
    assert got.journal is True
    assert got.log_level == "info"


@pytest.mark.parametrize(("terminal", "expected"), [(True, "console"), (False, "json")])
def test_the_log_format_follows_the_terminal(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, expected: str
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)

    assert config().log_format == expected


@pytest.mark.parametrize(
    ("variable", "value", "field", "expected"),
    [
        ("FORQ_DATA_DIR", "/srv/forq", "data_dir", Path("/srv/forq")),
        ("FORQ_DURABILITY", "normal", "durability", "normal"),
        ("FORQ_API_ADDR", "0.0.0.0:9000", "api_addr", Address("0.0.0.0", 9000)),
        ("FORQ_API_ADDR", "[::1]:8080", "api_addr", Address("::1", 8080)),
        ("FORQ_UI_ADDR", "queue.internal:1", "ui_addr", Address("queue.internal", 1)),
        ("FORQ_API_WORKERS", "4", "api_workers", 4),
        ("FORQ_ENV", "local", "env", "local"),
        ("FORQ_QUEUE_TTL_HOURS", "1", "queue_ttl_ms", 3_600_000),
        ("FORQ_DLQ_TTL_HOURS", "87600", "dlq_ttl_ms", 87_600 * 3_600_000),
        ("FORQ_METRICS_AUTH_SECRET", OTHER_SECRET, "metrics_secret", OTHER_SECRET),
        ("FORQ_LOG_FORMAT", "console", "log_format", "console"),
        ("FORQ_LOG_FORMAT", "json", "log_format", "json"),
        ("FORQ_LOG_LEVEL", "debug", "log_level", "debug"),
        ("FORQ_AUTH_SECRET", "p" * 40 + " passphrase", "auth_secret", "p" * 40 + " passphrase"),
    ],
)
def test_a_good_value_is_taken(variable: str, value: str, field: str, expected: object) -> None:
    assert getattr(config(**{variable: value}), field) == expected


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("FORQ_METRICS_ENABLED", "metrics_enabled"),
        ("FORQ_TRUST_PROXY_HEADERS", "trust_proxy_headers"),
        ("FORQ_JOBS", "jobs"),
        ("FORQ_JOURNAL", "journal"),
    ],
)
@pytest.mark.parametrize(
    ("value", "expected"),
    [(word, True) for word in ("true", "1", "on", "yes", "TRUE", "On")]
    + [(word, False) for word in ("false", "0", "off", "no", "False", "OFF")],
)
def test_booleans_are_read_as_people_write_them(
    variable: str, field: str, value: str, expected: bool
) -> None:
    got = config(FORQ_METRICS_AUTH_SECRET=OTHER_SECRET, **{variable: value})

    assert getattr(got, field) is expected


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("FORQ_AUTH_SECRET", "s" * 31, "31 characters"),
        ("FORQ_AUTH_SECRET", "s" * 4097, "at most 4096"),
        ("FORQ_AUTH_SECRET", "ключ" * 10, "printable ASCII"),
        ("FORQ_AUTH_SECRET", "s" * 32 + "\n", "printable ASCII"),
        ("FORQ_AUTH_SECRET", " " + "s" * 32, "no space at either end"),
        ("FORQ_DATA_DIR", "da\0ta", "NUL"),
        ("FORQ_DATABASE_URL", "forq.db", "not an address"),
        ("FORQ_DATABASE_URL", "mysql://host/db", "unknown kind"),
        ("FORQ_DATABASE_URL", "sqlite://forq.db", "short of a slash"),
        ("FORQ_DATABASE_URL", "sqlite:///", "name of a file"),
        ("FORQ_DATABASE_URL", "sqlite:///dir/", "name of a file"),
        ("FORQ_DATABASE_URL", "sqlite:///:memory:", "not the path"),
        ("FORQ_DATABASE_URL", "sqlite:///a.db?mode=ro", "options"),
        ("FORQ_DATABASE_URL", "postgresql://host", "name of a database"),
        ("FORQ_DATABASE_URL", "postgresql://host:99999/db", "malformed"),
        ("FORQ_DATABASE_URL", "postgresql://host:0/db", "malformed"),
        ("FORQ_DATABASE_URL", "postgresql://[host/db", "malformed"),
        ("FORQ_DB_PATH", ":memory:", "not the path"),
        ("FORQ_DURABILITY", "none", "full or normal"),
        ("FORQ_API_ADDR", "localhost", "no port"),
        ("FORQ_API_ADDR", ":8080", "no host"),
        ("FORQ_API_ADDR", "localhost:http", "not a number"),
        ("FORQ_API_ADDR", "localhost:0", "1 to 65535"),
        ("FORQ_API_ADDR", "localhost:65536", "1 to 65535"),
        ("FORQ_API_ADDR", "::1:8080", "brackets"),
        ("FORQ_API_ADDR", "[localhost]:8080", "not an IPv6 address"),
        ("FORQ_API_ADDR", "http://localhost:8080", "brackets"),
        ("FORQ_UI_ADDR", "a b:8081", "not a name"),
        ("FORQ_UI_ADDR", "localhost:8080", "the same as the API's"),
        ("FORQ_API_WORKERS", "0", "1 to 256"),
        ("FORQ_API_WORKERS", "-1", "not a whole number"),
        ("FORQ_API_WORKERS", "two", "not a whole number"),
        ("FORQ_API_WORKERS", "٣", "not a whole number"),
        ("FORQ_API_WORKERS", "9" * 5000, "not a whole number"),
        ("FORQ_ENV", "PRO", "local or pro"),
        ("FORQ_QUEUE_TTL_HOURS", "0", "1 to 87600"),
        ("FORQ_QUEUE_TTL_HOURS", "1.5", "not a whole number"),
        ("FORQ_DLQ_TTL_HOURS", "87601", "1 to 87600"),
        ("FORQ_METRICS_ENABLED", "maybe", "true/false"),
        ("FORQ_METRICS_AUTH_SECRET", "short", "5 characters"),
        ("FORQ_TRUST_PROXY_HEADERS", "2", "true/false"),
        ("FORQ_JOBS", "disabled", "true/false"),
        ("FORQ_JOURNAL", " on", "true/false"),
        ("FORQ_LOG_FORMAT", "xml", "console or json"),
        ("FORQ_LOG_LEVEL", "loud", "debug or info"),
    ],
)
def test_a_bad_value_is_refused_in_one_line(variable: str, value: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(**{variable: value})

    assert_one_line(refused.value, variable, problem)


@pytest.mark.parametrize("variable", VARIABLES)
def test_an_empty_value_is_refused(variable: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(**{variable: ""})

    assert_one_line(refused.value, variable, "empty")


def assert_one_line(error: ConfigError, variable: str, problem: str) -> None:
    line = str(error)
    assert line.startswith(f"{variable} ")
    assert problem in line
    assert f"; example: {variable}=" in line
    assert line.isprintable()
    assert len(line) < 250


def test_the_example_of_every_refusal_would_be_taken() -> None:
    for variable in set(VARIABLES) - {"FORQ_AUTH_SECRET", "FORQ_AUTH_SECRET_FILE"}:
        with pytest.raises(ConfigError) as refused:
            config(**{variable: "\0"})
        example = str(refused.value).partition(f"; example: {variable}=")[2]
        if not example.startswith("$("):
            config(**{variable: example})


def test_the_secret_is_required() -> None:
    with pytest.raises(ConfigError) as refused:
        load({})

    assert_one_line(refused.value, "FORQ_AUTH_SECRET", "is missing")


def test_the_secret_comes_from_a_file_without_its_line_end(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{OTHER_SECRET}\r\n")

    got = load({"FORQ_AUTH_SECRET_FILE": str(file)})

    assert got.auth_secret == OTHER_SECRET
    assert got.auth_secret_file == file


def test_two_sources_of_the_secret_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(OTHER_SECRET)

    with pytest.raises(ConfigError) as refused:
        config(FORQ_AUTH_SECRET_FILE=str(file))

    assert_one_line(refused.value, "FORQ_AUTH_SECRET_FILE", "as well as FORQ_AUTH_SECRET")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (b"short\n", "5 characters"),
        (b"s" * 32 + b"\nsecond line", "printable"),
        (b"\xff" * 40, "not text"),
    ],
)
def test_a_secret_file_that_will_not_do_is_refused(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(ConfigError) as refused:
        load({"FORQ_AUTH_SECRET_FILE": str(file)})

    assert_one_line(refused.value, "FORQ_AUTH_SECRET_FILE", problem)


def test_metrics_need_their_secret() -> None:
    with pytest.raises(ConfigError) as refused:
        config(FORQ_METRICS_ENABLED="true")

    assert_one_line(refused.value, "FORQ_METRICS_AUTH_SECRET", "is missing")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///some/forq.db", "some/forq.db"),
        ("sqlite:////srv/forq.db", "/srv/forq.db"),
        ("sqlite:///with%20space.db", "with space.db"),
    ],
)
def test_a_sqlite_address_names_a_file(url: str, path: str) -> None:
    assert config(FORQ_DATABASE_URL=url).database.path == Path(path)


def test_a_postgresql_address_is_understood() -> None:
    got = config(FORQ_DATABASE_URL="postgresql://forq:pw@db.internal:5432/forq")

    assert got.database.kind == "postgresql"
    assert got.database.path is None
    assert got.database.url == "postgresql://forq:pw@db.internal:5432/forq"
    assert got.api_workers == len(os.sched_getaffinity(0))
    assert str(got.database) == "PostgreSQL db.internal/forq"


def test_the_originals_name_for_the_file_is_taken() -> None:
    assert config(FORQ_DB_PATH="x/forq.db").database.path == Path("x/forq.db")


def test_both_names_for_the_file_may_agree() -> None:
    got = config(FORQ_DB_PATH="x/forq.db", FORQ_DATABASE_URL="sqlite:///./x/forq.db")

    assert got.database.path == Path("x/forq.db")


@pytest.mark.parametrize("url", ["sqlite:///y/forq.db", "postgresql://host/db"])
def test_two_different_databases_are_refused(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(FORQ_DB_PATH="x/forq.db", FORQ_DATABASE_URL=url)

    assert_one_line(refused.value, "FORQ_DB_PATH", "another database")


def test_no_secret_shows_in_a_repr() -> None:
    got = config(
        FORQ_METRICS_AUTH_SECRET=OTHER_SECRET,
        FORQ_DATABASE_URL="postgresql://forq:hidden-password@host/db",
    )

    for secret in (SECRET, OTHER_SECRET, "hidden-password"):
        assert secret not in repr(got)
        assert secret not in str(got)


@pytest.mark.parametrize(
    ("variable", "value", "hidden"),
    [
        ("FORQ_AUTH_SECRET", "too-short-to-pass", "too-short"),
        ("FORQ_METRICS_AUTH_SECRET", "too-short-to-pass", "too-short"),
        ("FORQ_DATABASE_URL", "postgresql://forq:hidden@host:bad/db", "hidden"),
        ("FORQ_DATABASE_URL", "postgresql://forq:hidden@ho\u2100st/db", "hidden"),
        ("FORQ_DATABASE_URL", "mysql://forq:hidden@host/db", "hidden"),
    ],
)
def test_no_secret_shows_in_a_refusal(variable: str, value: str, hidden: str) -> None:
    with pytest.raises(ConfigError) as refused:
        config(**{variable: value})

    assert hidden not in str(refused.value)


def test_a_misspelt_variable_is_named_with_the_closest_one() -> None:
    lines = unknown_variables(
        {"FORQ_API_ADRR": "x", "FORQ_DURABILITY": "full", "FORQUE": "x", "PATH": "/bin"}
    )

    assert len(lines) == 1
    assert lines[0].startswith("FORQ_API_ADRR ")
    assert "FORQ_API_ADDR" in lines[0]
