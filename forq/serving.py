"""One part of Forq in this process: `python -m forq.serving api|ui|jobs [parent's pid]`."""

import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, get_args

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.errors import HaltServer
from gunicorn.util import import_app
from gunicorn.workers.base import Worker

from forq import jobs, logs, process
from forq.config import Config, LogLevel, load

Part = Literal["api", "ui", "jobs"]

GRACEFUL_S = 8


def command(part: Part) -> list[str]:
    # -P: a folder named like one of our packages, where Forq is started, must not be imported.
    return [sys.executable, "-P", "-m", "forq.serving", part]


def gunicorn_settings(config: Config) -> dict[str, Any]:
    """What both servers share."""
    return {
        "accesslog": None,
        "control_socket_disable": True,
        "graceful_timeout": GRACEFUL_S,
        "timeout": 30,
        "keepalive": 75,
        "limit_request_line": 8190,
        "limit_request_fields": 100,
        "limit_request_field_size": 8190,
        "logger_class": logs.GunicornLogger,
        "loglevel": _gunicorn_level(config.log_level),
        "preload_app": False,
        # No header of a client's may change the scheme or the path a request is seen under.
        "secure_scheme_headers": {},
        "forwarder_headers": "",
        # The heartbeat file must not wait for a disk.
        "worker_tmp_dir": "/dev/shm" if os.access("/dev/shm", os.W_OK) else None,  # noqa: S108
    }


def api_settings(config: Config) -> dict[str, Any]:
    return gunicorn_settings(config) | {
        "bind": str(config.api_addr),
        "workers": config.api_workers,
        "worker_class": "forq.worker.ForqWorker",
        "backlog": 4096,
        # A start that fails must end the process, not leave a server without its engine.
        "asgi_lifespan": "on",
        "http_protocols": "h1,h2",
        "http2_cleartext": "both",
        # gunicorn speaks cleartext HTTP/2 only with peers named here; with no header trusted
        # (above) it grants them nothing else.
        "forwarded_allow_ips": "*",
        "child_exit": _end_with_worker,
    }


def _end_with_worker(arbiter: Arbiter, worker: Worker) -> None:
    """A worker that dies ends its server, and so all of Forq: whoever started it decides.

    gunicorn would start another, and nobody would know why messages wait for their leases to end.
    """
    if arbiter.LISTENERS:  # none are left once it has been told to stop
        raise HaltServer(f"worker {worker.pid} died", 1)


def ui_settings(config: Config) -> dict[str, Any]:
    return gunicorn_settings(config) | {
        "bind": str(config.ui_addr),
        "worker_class": "gthread",
        "workers": 1,
        "threads": 8,
        "forwarded_allow_ips": "",
    }


def _gunicorn_level(level: LogLevel) -> LogLevel:
    # Its "info" is a dozen lines per start that say what the banner says.
    return "warning" if level == "info" else level


class Server(BaseApplication):
    """gunicorn with our settings only: no command line, no configuration file."""

    def __init__(self, application: str, settings: Mapping[str, Any]) -> None:
        self._application = application
        self._settings = settings
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return import_app(self._application)


def run(part: Part, config: Config) -> None:
    logs.configure(logs.dict_config(config.log_format, config.log_level))
    if part == "jobs":
        jobs.run(config)
    elif part == "ui":
        Server("forq.wsgi:application", ui_settings(config)).run()
    else:
        Server("forq.asgi:application", api_settings(config)).run()


def main(argv: list[str]) -> None:
    name, *parent = argv
    if parent:
        process.die_with(int(parent[0]))
    part = next(each for each in get_args(Part) if each == name)
    run(part, load(os.environ))


if __name__ == "__main__":
    main(sys.argv[1:])
