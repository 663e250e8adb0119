"""Forq's own settings on an environment that no developer's shell can change."""

import os

for name in [name for name in os.environ if name.startswith("FORQ_")]:
    del os.environ[name]
os.environ["FORQ_AUTH_SECRET"] = "a-secret-that-only-the-tests-know-about"

from forq.settings import *  # noqa: E402, F403
