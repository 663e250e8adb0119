"""The files around the code say the truth about it."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOP = ("adminui", "forq", "queues")


def test_every_package_is_in_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = set(project["tool"]["setuptools"]["packages"])

    found = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for top in TOP
        for file in (ROOT / top).rglob("__init__.py")
    }

    assert found == listed - {"adminui.static", "adminui.templates"}


@pytest.mark.parametrize("name", ["server", "fast", "dev"])
def test_a_lock_file_holds_hashes_and_no_addresses(name: str) -> None:
    lock = (ROOT / "requirements" / f"{name}.lock").read_text()
    packages = re.split(r"(?m)^(?=[a-z])", lock)[1:]

    assert packages
    assert [each for each in packages if "--hash=sha256:" not in each] == []
    assert "/" not in lock


def test_the_server_and_the_developers_run_the_same_versions() -> None:
    def pins(name: str) -> set[str]:
        lock = (ROOT / "requirements" / f"{name}.lock").read_text()
        return set(re.findall(r"(?m)^[a-z0-9-]+==[^ ;]+", lock))

    assert pins("server") < pins("dev")


def test_the_image_runs_the_locked_server_as_nobody_special() -> None:
    build, final = re.split(r"(?m)^FROM python:3\.11-slim\n", (ROOT / "Dockerfile").read_text())

    for lock in ("server", "fast"):
        assert re.search(rf"--require-hashes .*-r requirements/{lock}\.lock", build)
    assert "\nUSER 10001:10001\n" in final
    assert '\nVOLUME ["/data"]\n' in final
    assert "\nEXPOSE 8080 8081\n" in final
    assert "/healthcheck" in final.partition("HEALTHCHECK")[2]
    assert final.endswith('ENTRYPOINT ["forq"]\nCMD ["serve"]\n')
