from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> object:
    """Tests marked ``anyio`` run on asyncio alone."""
    return "asyncio"
