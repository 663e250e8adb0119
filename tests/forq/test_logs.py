import json
import subprocess
import sys
from typing import Any

import pytest

CALLS = """
import logging, sys
import structlog
from gunicorn.config import Config
from forq import logs

logs.configure(logs.dict_config(sys.argv[1], "info"))
structlog.contextvars.bind_contextvars(request_id="r-1")
structlog.get_logger("forq.test").info("ours", count=3)
logging.getLogger("plain").warning("theirs %s", "formatted")
logging.getLogger("django.request").error("django's", extra={"status_code": 500})
logging.getLogger("plain").debug("too quiet to show")
gunicorn = logs.GunicornLogger(Config())
gunicorn.warning("gunicorn's %d", 7)
assert not gunicorn.access_log_enabled

def fail(password):
    raise RuntimeError("broken")

try:
    fail("-".join(["in", "a", "local", "variable"]))
except RuntimeError:
    structlog.get_logger("forq.test").exception("failed")
"""


def lines(log_format: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", CALLS, log_format], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_every_source_comes_out_as_one_json_line() -> None:
    events: list[dict[str, Any]] = [json.loads(line) for line in lines("json")]

    assert [(each["event"], each["level"], each["logger"]) for each in events] == [
        ("ours", "info", "forq.test"),
        ("theirs formatted", "warning", "plain"),
        ("django's", "error", "django.request"),
        ("gunicorn's 7", "warning", "gunicorn.error"),
        ("failed", "error", "forq.test"),
    ]
    assert all(each["request_id"] == "r-1" for each in events)
    assert all(each["timestamp"].endswith("Z") for each in events)
    assert events[0]["count"] == 3
    assert events[2]["status_code"] == 500
    assert "RuntimeError: broken" in events[4]["exception"]


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_shows_no_local_variables(log_format: str) -> None:
    text = "\n".join(lines(log_format))

    assert "RuntimeError: broken" in text
    assert "in-a-local-variable" not in text


def test_the_console_has_a_line_for_each_event() -> None:
    text = "\n".join(lines("console"))

    for event in ("ours", "theirs formatted", "django's", "gunicorn's 7"):
        assert event in text
    assert "too quiet" not in text
    assert "request_id=r-1" in text
