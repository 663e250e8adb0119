import contextlib
import http.client
import os
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator

import pytest

from forq.address import Address
from tests.forq.running import SECRET, Place, Running, children, is_alive, status


@pytest.fixture
def served(place: Place) -> Iterator[Running]:
    with place.started("serve", FORQ_AUTH_SECRET=SECRET) as running:
        running.wait_until_announced()
        yield running


def parts(running: Running) -> dict[str, int]:
    """The pid of each part, by the part's name on its command line."""
    return {
        command.split("forq.serving ")[1].split()[0]: pid
        for pid, command in children(running.process.pid).items()
    }


def family(running: Running) -> list[int]:
    direct = list(children(running.process.pid))
    return [*direct, *(pid for child in direct for pid in children(child))]


def test_every_part_runs_and_both_addresses_answer(place: Place, served: Running) -> None:
    assert sorted(parts(served)) == ["api", "jobs", "ui"]
    assert status(place.api, "/healthcheck") == 204
    assert status(place.ui, "/") == 200


def test_the_banner_says_where_everything_is(place: Place, served: Running) -> None:
    for text in (
        f"http://{place.api}\n",
        f"http://{place.ui}\n",
        f"http://{place.api}/api/docs",
        "data/forq.db, durability full",
        "FORQ_AUTH_SECRET",
        "curl ",
    ):
        assert text in served.out


def test_the_line_to_try_works(place: Place) -> None:
    with place.started("serve", "--dev") as running:
        running.wait_until_announced()
        line = running.out.partition("Try:\n")[2].strip()
        done = subprocess.run(
            ["bash", "-c", line], cwd=place.folder, capture_output=True, text=True, check=False
        )

    assert done.stdout.startswith("HTTP/1.1 204 "), done


def test_no_header_of_a_clients_moves_the_ui(place: Place, served: Running) -> None:
    assert served.process.poll() is None
    connection = http.client.HTTPConnection(*place.ui, timeout=5)
    with contextlib.closing(connection):
        connection.request("GET", "/moved", headers={"SCRIPT_NAME": "/moved"})
        assert connection.getresponse().status == 404


def test_no_secret_is_printed_or_logged(served: Running) -> None:
    served.stop()

    assert SECRET not in served.out + served.err


def test_ipv6_addresses_are_served(place: Place) -> None:
    api, ui = Address("::1", place.api.port), Address("::1", place.ui.port)
    addresses = {"FORQ_API_ADDR": str(api), "FORQ_UI_ADDR": str(ui)}

    with place.started("serve", FORQ_AUTH_SECRET=SECRET, **addresses) as running:
        running.wait_until_announced()

        assert status(api, "/healthcheck") == 204
        assert status(ui, "/") == 200


def test_every_interface_is_served_and_shown_as_set(place: Place) -> None:
    with place.started(
        "serve", FORQ_AUTH_SECRET=SECRET, FORQ_API_ADDR=f"0.0.0.0:{place.api.port}"
    ) as running:
        running.wait_until_announced()

        assert status(place.api, "/healthcheck") == 204
        assert f"http://0.0.0.0:{place.api.port}\n" in running.out
        assert f"http://127.0.0.1:{place.api.port}/api/docs" in running.out


def test_jobs_can_be_left_to_others(place: Place) -> None:
    with place.started("serve", FORQ_AUTH_SECRET=SECRET, FORQ_JOBS="off") as running:
        running.wait_until_announced()

        assert sorted(parts(running)) == ["api", "ui"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_everything_cleanly(served: Running, number: signal.Signals) -> None:
    pids = family(served)
    began = time.monotonic()

    assert served.stop(number) == 0

    assert time.monotonic() - began < 10
    assert not [pid for pid in pids if is_alive(pid)]
    assert "Traceback" not in served.err
    assert "error" not in served.err


def test_ctrl_c_in_a_terminal_reaches_the_supervisor_alone(served: Running) -> None:
    own = os.getpgid(served.process.pid)

    assert [pid for pid in family(served) if os.getpgid(pid) == own] == []


def test_a_signal_during_the_start_stops_everything_too(place: Place) -> None:
    with place.started("serve", FORQ_AUTH_SECRET=SECRET) as running:
        running.wait_for(lambda: len(children(running.process.pid)) == 3)
        pids = family(running)

        assert running.stop() == 0

        assert not [pid for pid in pids if is_alive(pid)]
        assert "Traceback" not in running.err


@pytest.mark.parametrize(
    ("part", "name"), [("api", "API"), ("ui", "admin UI"), ("jobs", "job scheduler")]
)
def test_a_part_that_dies_takes_the_rest_down(served: Running, part: str, name: str) -> None:
    pids = family(served)

    os.kill(parts(served)[part], signal.SIGKILL)

    assert served.process.wait(12) == 1
    assert f"the {name} process ended by itself (killed by SIGKILL)" in served.err
    assert not [pid for pid in pids if is_alive(pid)]


def test_a_worker_inside_the_api_that_dies_takes_all_down(served: Running) -> None:
    (api,) = (pid for pid, line in children(served.process.pid).items() if "serving api" in line)
    (worker,) = children(api)

    os.kill(worker, signal.SIGKILL)

    assert served.process.wait(15) not in (0, -signal.SIGKILL)
    assert "the API process ended by itself" in served.err


def test_a_part_that_hangs_is_killed_in_time(served: Running) -> None:
    pids = family(served)
    os.kill(parts(served)["api"], signal.SIGSTOP)
    began = time.monotonic()

    assert served.stop() == 1

    assert 9 < time.monotonic() - began < 11
    assert "the API process did not stop in time" in served.err
    assert not [pid for pid in pids if is_alive(pid)]


def test_the_parts_go_when_the_supervisor_is_killed(served: Running) -> None:
    pids = family(served)

    served.process.kill()
    served.process.wait(5)

    deadline = time.monotonic() + 10
    while alive := [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("command", "taken"), [("serve", "api"), ("serve", "ui"), ("api", "api"), ("ui", "ui")]
)
def test_a_taken_port_is_one_line(place: Place, command: str, taken: str) -> None:
    address = place.api if taken == "api" else place.ui
    with socket.create_server(address):
        done = place.run(command, FORQ_AUTH_SECRET=SECRET)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"FORQ_{taken.upper()}_ADDR {address} is in use" in done.stderr


def test_two_names_for_one_address_are_one_line(place: Place) -> None:
    done = place.run("serve", FORQ_AUTH_SECRET=SECRET, FORQ_UI_ADDR=f"localhost:{place.api.port}")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "FORQ_UI_ADDR" in done.stderr


def test_a_name_that_means_nothing_is_one_line(place: Place) -> None:
    done = place.run("serve", FORQ_AUTH_SECRET=SECRET, FORQ_API_ADDR="no.such.host.invalid:8080")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "FORQ_API_ADDR no.such.host.invalid:8080 cannot be listened on" in done.stderr


def test_dev_makes_a_secret_once_and_shows_it(place: Place) -> None:
    file = place.folder / "data" / "auth_secret"

    with place.started("serve", "--dev") as running:
        running.wait_until_announced()
        secret = file.read_text().strip()
        assert secret in running.out
        assert secret not in running.err
    assert len(secret) >= 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [entry.name for entry in file.parent.glob(".auth*")] == []

    with place.started("serve", "--dev") as running:
        running.wait_until_announced()
        assert secret in running.out


def test_dev_keeps_a_given_secret_to_itself(place: Place) -> None:
    with place.started("serve", "--dev", FORQ_AUTH_SECRET=SECRET) as running:
        running.wait_until_announced()

        assert SECRET not in running.out + running.err
        assert not (place.folder / "data" / "auth_secret").exists()


@pytest.mark.parametrize("command", ["api", "ui"])
def test_a_part_runs_alone(place: Place, command: str) -> None:
    address, path = (place.api, "/healthcheck") if command == "api" else (place.ui, "/")

    with place.started(command, FORQ_AUTH_SECRET=SECRET) as running:
        running.wait_for(lambda: answers(place, command))
        assert status(address, path) in (200, 204)
        pids = children(running.process.pid)

        assert running.stop() == 0

        assert not [pid for pid in pids if is_alive(pid)]
        assert "Traceback" not in running.err


def answers(place: Place, command: str) -> bool:
    try:
        socket.create_connection(place.api if command == "api" else place.ui, timeout=1).close()
    except OSError:
        return False
    return True


def test_nothing_but_the_data_directory_is_left_behind(place: Place, served: Running) -> None:
    served.stop()

    names = {str(path.relative_to(place.folder)) for path in place.folder.rglob("*")}
    assert names - {"out", "err"} <= {
        "data",
        "data/forq.db",
        "data/forq.db-wal",
        "data/forq.db-shm",
    }
