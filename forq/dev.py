"""What `forq serve --dev` adds for a person who has set nothing up."""

import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from forq.config import load
from forq.refused import Refused

SECRET_NAME = "auth_secret"  # noqa: S105 - the file's name


def dev_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with the defaults of a local start, among them a secret kept in a file."""
    result = {"FORQ_ENV": "local", **environ}
    if result.keys() & {"FORQ_AUTH_SECRET", "FORQ_AUTH_SECRET_FILE"}:
        return result
    secret = secrets.token_urlsafe(32)
    # Loaded first: a start that is going to be refused leaves no file behind.
    data_dir = load({**result, "FORQ_AUTH_SECRET": secret}).data_dir
    try:
        result["FORQ_AUTH_SECRET_FILE"] = str(_keep(secret, data_dir))
    except OSError as error:
        raise Refused(f"cannot keep a secret in {data_dir}: {error.strerror}") from error
    return result


def _keep(secret: str, data_dir: Path) -> Path:
    """Two starts at the same time end up with the same one, and later starts with that."""
    path = data_dir / SECRET_NAME
    if path.exists():
        return path
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes the file with mode 600; the link puts it in place whole or not at all.
    descriptor, draft = tempfile.mkstemp(prefix=f".{SECRET_NAME}.", dir=data_dir)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(f"{secret}\n")
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        Path(draft).unlink()
    return path
