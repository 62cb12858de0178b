"""A place to work and two workers, for all tests of engines."""

import os
from pathlib import Path

import pytest
import tiny_study

from blindsave.engine import Workers
from blindsave.stages.site import Site

TESTS = Path(__file__).parents[1] / "support"


@pytest.fixture(autouse=True)
def workers_find_the_tasks(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)


@pytest.fixture
def site(tmp_path) -> Site:
    return tiny_study.site(tmp_path)


@pytest.fixture(scope="module")
def workers():
    """Two workers for all tests that leave them alive."""
    with pytest.MonkeyPatch.context() as patch, Workers(2) as engine:
        patch.setenv("PYTHONPATH", str(TESTS), prepend=os.pathsep)
        yield engine
