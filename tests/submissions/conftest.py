"""Two submissions over ten shots of each test; tests forge copies."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from blindsave.policies.catalog import resolve
from blindsave.submissions import layout
from blindsave.submissions.pack import pack
from blindsave.task import shots

FEW = 10
FORGETFUL = ("feed_forward/14303", "feed_forward/14304")


@contextlib.contextmanager
def few() -> Iterator[None]:
    """Tests of ten shots: five pairs."""
    with pytest.MonkeyPatch.context() as patch:
        sealed = layout.planned_sealed_shots
        patch.setattr("blindsave.evidence.schedule.shots", lambda split: shots.shots(split)[:FEW])
        patch.setattr(layout, "planned_sealed_shots", lambda plan, seed: sealed(plan, seed)[:FEW])
        yield


@pytest.fixture(scope="module", autouse=True)
def few_shots():
    with few():
        yield


@pytest.fixture(scope="session")
def packed(tmp_path_factory) -> Path:
    """A folder of submissions: two policies without memory, and the teacher; tests must not change it."""
    root, work = tmp_path_factory.mktemp("submissions"), tmp_path_factory.mktemp("work")
    about = layout.About("No | memory", "A. Nobody", "Two seeds.", "https://example.org/none", "mit")
    with few():
        pack([resolve(name) for name in FORGETFUL], root / "forgetful", about, work)
        pack([resolve("teacher")], root / "teacher", layout.About("Teacher"), work)
    return root


@pytest.fixture
def forgetful(packed, tmp_path) -> Path:
    """A copy of one submission, to be forged."""
    return Path(shutil.copytree(packed / "forgetful", tmp_path / "forgetful"))
