"""One log pipeline for Forq, Django and gunicorn: a line per event on standard error."""

import logging
import logging.config
import sys
from typing import Any

import structlog
from gunicorn import glogging
from structlog.typing import Processor

from forq.config import LogFormat, LogLevel

_SHARED: tuple[Processor, ...] = (
    # Holds the request id while a request is being served.
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
)


def dict_config(log_format: LogFormat, log_level: LogLevel) -> dict[str, Any]:
    level = log_level.upper()
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structlog": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*_SHARED, structlog.stdlib.ExtraAdder(allow=["status_code"])],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_renderers(log_format),
                ],
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "structlog",
            }
        },
        "root": {"level": level, "handlers": ["stderr"]},
        "loggers": {
            # Django installs handlers of its own here, which would say everything twice.
            "django": {"level": level, "handlers": [], "propagate": True},
            # A line for every wrong path would let anybody fill the log.
            "django.request": {"level": "ERROR", "handlers": [], "propagate": True},
            "django.server": {"level": level, "handlers": [], "propagate": True},
        },
    }


def _renderers(log_format: LogFormat) -> list[Processor]:
    # Both render plain tracebacks: the richer ones print local variables, secrets among them.
    if log_format == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    ]


def configure(config: dict[str, Any]) -> None:
    """Django's LOGGING_CONFIG hook, called by the processes without Django as well."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(config)
    logging.captureWarnings(capture=True)


class GunicornLogger(glogging.Logger):
    """Hands gunicorn's lines to the root logger in place of its own handlers."""

    def setup(self, cfg: Any) -> None:
        self.cfg = cfg
        self._access_log_enabled = False
        self.loglevel = self.LOG_LEVELS[cfg.loglevel]
        self.error_log.setLevel(self.loglevel)
        self.error_log.propagate = True
