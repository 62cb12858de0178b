"""One released study for all tests here; each works on a copy."""

import shutil
from pathlib import Path

import pytest
from sealed_study import Study


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study, frozen, released and played with noise; tests must not change it."""
    made = Study(tmp_path_factory.mktemp("whole") / "study").prepare()
    made.freeze()
    made.release()
    made.noise()
    shutil.rmtree(made.work)
    return made.root


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Study:
    """A copy of it, to be forged."""
    shutil.copytree(whole, tmp_path / "study")
    return Study(tmp_path / "study")
