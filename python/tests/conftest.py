"""Fixtures of all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Keeps indexes out of the user's cache; the weights there are used."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    installed = Path(os.environ.get("CLARIQ_CACHE") or Path(home) / "clariq")
    cache = tmp_path_factory.mktemp("cache")
    (cache / "models").mkdir()
    weights = installed / "models" / "all-MiniLM-L6-v2"
    if weights.is_dir():
        (cache / "models" / weights.name).symlink_to(weights)
    os.environ["CLARIQ_CACHE"] = str(cache)
