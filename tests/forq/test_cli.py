import subprocess
import sys
from pathlib import Path

import pytest

import forq
from forq import cli
from tests.forq.running import SECRET, Place, Running

ROOT = Path(forq.__file__).parent.parent
COMMANDS = ("serve", "api", "ui", "jobs")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])

    out = capsys.readouterr().out
    assert ended.value.code == 0
    for command in COMMANDS:
        assert f"\n    {command} " in out
    assert "FORQ_AUTH_SECRET" in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"forq {forq.__version__}\n"


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 2
    assert "commands:" in capsys.readouterr().out


def test_an_unknown_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sevre"]) == 2

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "forq: there is no command 'sevre'; see: forq --help\n"


def test_an_unknown_option_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["api", "--dev"])

    captured = capsys.readouterr()
    assert ended.value.code == 2
    assert captured.out == ""
    assert captured.err == "forq: unrecognized arguments: --dev; see: forq --help\n"


def test_without_the_server_extra_the_command_that_installs_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    assert cli.main(["serve"]) == 2
    assert "pip install 'forq[server]'" in capsys.readouterr().err


def test_help_needs_no_server_package() -> None:
    code = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'django', 'gunicorn', 'structlog', 'rich'}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "from forq.cli import main\n"
        "main(['--help'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT
    )

    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_a_bad_setting_stops_every_command_with_one_line(place: Place, command: str) -> None:
    done = place.run(command, FORQ_AUTH_SECRET="short")

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("forq: FORQ_AUTH_SECRET is 5 characters long")
    assert list(place.folder.iterdir()) == []


@pytest.mark.parametrize("arguments", [["serve"], ["migrate"], ["check"]])
def test_manage_py_refuses_a_bad_setting_the_same_way(place: Place, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), *arguments],
        cwd=place.folder,
        env=place.environ(FORQ_AUTH_SECRET=SECRET, FORQ_DURABILITY="some"),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("forq: FORQ_DURABILITY is 'some' but must be full or normal")


def test_manage_runs_django_commands(place: Place) -> None:
    done = place.run("manage", "check", FORQ_AUTH_SECRET=SECRET)

    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_postgresql_is_refused_until_it_is_supported(place: Place, command: str) -> None:
    done = place.run(
        command, FORQ_AUTH_SECRET=SECRET, FORQ_DATABASE_URL="postgresql://u:pw@localhost/forq"
    )

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "FORQ_DATABASE_URL" in done.stderr
    assert "not yet supported in this version" in done.stderr
    assert "pw" not in done.stderr


def test_jobs_start_and_stop_on_their_own(place: Place) -> None:
    with place.started("jobs", FORQ_AUTH_SECRET=SECRET) as running:
        running.wait_for(lambda: "job scheduler started" in running.err)
        stopped_within(running, seconds=1)


def stopped_within(running: Running, seconds: float) -> None:
    running.process.terminate()
    assert running.process.wait(seconds) == 0
    assert "Traceback" not in running.err


def test_a_misspelt_variable_is_pointed_out(place: Place) -> None:
    with place.started("jobs", FORQ_AUTH_SECRET=SECRET, FORQ_DURABILTY="full") as running:
        running.wait_for(lambda: "job scheduler started" in running.err)

    assert "FORQ_DURABILTY is not a setting" in running.err
    assert "FORQ_DURABILITY?" in running.err
