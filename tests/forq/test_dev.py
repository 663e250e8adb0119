import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forq.config import ConfigError, load
from forq.dev import dev_environ
from forq.refused import Refused


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    given = {"FORQ_DATA_DIR": str(tmp_path / "data")}

    first, second = load(dev_environ(given)), load(dev_environ(given))

    assert first.auth_secret == second.auth_secret
    assert first.auth_secret_file == tmp_path / "data" / "auth_secret"
    assert stat.S_IMODE(first.auth_secret_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(first.data_dir.stat().st_mode) == 0o700
    assert [path.name for path in first.data_dir.iterdir()] == ["auth_secret"]


def test_starts_at_once_agree_on_the_secret(tmp_path: Path) -> None:
    def secret(_: int) -> str:
        return load(dev_environ({"FORQ_DATA_DIR": str(tmp_path / "data")})).auth_secret

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(secret, range(64)))

    assert len(found) == 1
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["auth_secret"]


def test_what_is_given_stays(tmp_path: Path) -> None:
    given = {
        "FORQ_AUTH_SECRET": "g" * 32,
        "FORQ_ENV": "pro",
        "FORQ_DATA_DIR": str(tmp_path / "data"),
    }

    assert dev_environ(given) == given
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_local_unless_told() -> None:
    assert dev_environ({"FORQ_AUTH_SECRET": "g" * 32})["FORQ_ENV"] == "local"


def test_a_refused_start_leaves_no_secret(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        dev_environ({"FORQ_DATA_DIR": str(tmp_path / "data"), "FORQ_JOBS": "perhaps"})

    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_made_is_one_line() -> None:
    with pytest.raises(Refused, match=r"^cannot keep a secret in /proc/forq: [^\n]+$"):
        dev_environ({"FORQ_DATA_DIR": "/proc/forq"})
