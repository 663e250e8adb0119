from pathlib import Path

import pytest

from tests.forq.running import Place, free_addresses


@pytest.fixture
def place(tmp_path: Path) -> Place:
    api, ui = free_addresses(2)
    return Place(tmp_path, api, ui)
