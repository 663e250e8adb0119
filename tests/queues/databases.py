"""Databases as a start of Forq leaves them: made by the migrations, empty."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def make_sqlite(path: Path) -> Path:
    path.write_bytes(_migrated())
    return path


@functools.cache
def _migrated() -> bytes:
    """The file after all migrations, run once: a copy of it is as good as running them again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forq.db"
        subprocess.run(
            [sys.executable, "-m", "django", "migrate", "--verbosity", "0"],
            check=True,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "forq.settings",
                "FORQ_AUTH_SECRET": "no-secret-is-needed-to-make-the-tables",
                "FORQ_DB_PATH": str(path),
            },
            cwd=Path(__file__).parents[2],
        )
        return path.read_bytes()
