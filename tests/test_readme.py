"""What the README says happens."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from forq import config
from tests.live import SECRET, LiveServer

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_walk_with_curl_works_as_written(server: LiveServer, tmp_path: Path) -> None:
    walk = README.split("<!-- walk")[1].split("## Settings")[0]
    blocks = re.findall(r"```sh\n(.*?)```", walk, re.DOTALL)
    assert len(blocks) >= 6
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "auth_secret").write_text(SECRET)
    script = "\n".join(blocks).replace("http://localhost:8080", server.url)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    at = 0
    for promised in re.findall(r"^# (.*)$", "\n".join(blocks), re.MULTILINE):
        pattern = re.escape(promised).replace("…", "[-0-9a-f]+")
        found = re.compile(pattern).search(done.stdout, at)
        assert found, f"{promised}\nis not in\n{done.stdout[at:]}"
        at = found.end()


def test_every_setting_is_in_the_table_and_nothing_else_is() -> None:
    table = README.split("## Settings")[1].split("## More")[0]
    assert sorted(re.findall(r"^\| `(FORQ_\w+)`", table, re.MULTILINE)) == sorted(config.VARIABLES)


def test_every_file_it_points_to_is_there() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", README)
    assert "docs/architecture.svg" in targets
    missing = [each for each in targets if not (ROOT / each).exists()]
    assert not missing
