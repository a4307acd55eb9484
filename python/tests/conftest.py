"""What all tests share."""

import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """Keeps indexes out of the user's cache."""
    os.environ["CLARIQ_CACHE"] = str(tmp_path_factory.mktemp("cache"))
