"""The `forq` command."""

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import Literal, NoReturn

from forq import __version__
from forq.refused import Refused

USAGE_ERROR = 2

_PARTS = {
    "serve": "start everything on this machine: API, admin UI and jobs",
    "api": "start the HTTP API alone",
    "ui": "start the admin UI alone",
    "jobs": "start the job scheduler alone",
}
_EPILOG = """\
Settings are FORQ_* environment variables; FORQ_AUTH_SECRET is the only one without a default.
To look around on your own machine, none is needed: forq serve --dev
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"forq: {message}; see: forq --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="forq",
        description="Forq, a durable message queue over HTTP.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"forq {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, description in _PARTS.items():
        part = commands.add_parser(
            name, help=description, description=f"{name}: {description}", allow_abbrev=False
        )
        if name == "serve":
            part.add_argument(
                "--dev",
                action="store_true",
                help="for one person's machine: FORQ_ENV=local, and a secret made once and shown",
            )
    commands.add_parser(
        "manage", help="run a Django management command", add_help=False, prefix_chars="\0"
    ).add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    known = {*_PARTS, "manage"}
    if arguments and not arguments[0].startswith("-") and arguments[0] not in known:
        return _refuse(f"there is no command {arguments[0]!r}; see: forq --help")
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return USAGE_ERROR
    if importlib.util.find_spec("django") is None or importlib.util.find_spec("gunicorn") is None:
        return _refuse("the server is not installed; run: pip install 'forq[server]'")
    if options.command == "manage":
        return manage(["forq manage", *options.arguments])
    return _refusing(lambda: _start(options.command, dev=getattr(options, "dev", False)))


def manage(argv: list[str]) -> int:
    """Django's commands, and ours by the same names."""
    if argv[1:2] and argv[1] in _PARTS:
        return main(argv[1:])

    def execute() -> int:
        from django.core.management import execute_from_command_line

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "forq.settings")
        execute_from_command_line(argv)
        return 0

    return _refusing(execute)


def _start(command: Literal["serve", "api", "ui", "jobs"], *, dev: bool) -> int:
    from forq import starting

    return starting.start(command, dev=dev)


def _refusing(action: Callable[[], int]) -> int:
    """Turns what a person can put right into one line and exit code 2."""
    try:
        return action()
    except Refused as error:
        return _refuse(str(error))
    except KeyboardInterrupt:
        return 130


def _refuse(line: str) -> int:
    print(f"forq: {line}", file=sys.stderr)
    return USAGE_ERROR
