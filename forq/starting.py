"""What happens between the command and the first process: settings, ports, database."""

import os
import sys
from typing import Literal

import structlog

from forq import banner, process, serving
from forq.address import Address
from forq.config import Config, load, unknown_variables
from forq.database import prepare_database
from forq.dev import dev_environ
from forq.ports import check_free
from forq.supervisor import supervise


def start(command: Literal["serve"] | serving.Part, *, dev: bool) -> int:
    given = dict(os.environ)
    environ = dev_environ(given) if dev else given
    config = load(environ)
    # The parts inherit it, and Django's settings are read from it.
    os.environ.update(environ, DJANGO_SETTINGS_MODULE="forq.settings")

    check_free(_addresses(command, config))
    prepare_database(config)
    for line in unknown_variables(environ):
        structlog.get_logger("forq").warning(line)
    process.raise_file_limit()
    if command != "serve":
        os.execv(sys.executable, serving.command(command))  # noqa: S606 - no shell is wanted
    secret_was_made = "FORQ_AUTH_SECRET_FILE" in environ.keys() - given.keys()
    shown = config.auth_secret if secret_was_made else None
    return supervise(config, os.environ, lambda: banner.show(config, secret=shown))


def _addresses(command: str, config: Config) -> dict[str, Address]:
    both = {"FORQ_API_ADDR": config.api_addr, "FORQ_UI_ADDR": config.ui_addr}
    if command == "serve":
        return both
    return {name: both[name] for name in both if name == f"FORQ_{command.upper()}_ADDR"}
