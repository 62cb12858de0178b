"""What decides is bound by the freeze, what describes is not: recolouring a caption costs no study."""

import shutil
from pathlib import Path

import pytest

import blindsave
from blindsave import store
from blindsave.errors import BadFile
from blindsave.evidence.freeze import DECIDING, _same_code, code_hashes

SOURCE = Path(blindsave.__file__).parent


@pytest.fixture
def package(tmp_path):
    """A copy of the package's sources."""
    kinds = shutil.ignore_patterns("*.so", "__pycache__")
    return Path(shutil.copytree(SOURCE, tmp_path / "blindsave", ignore=kinds))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def key(package: Path) -> str:
    """What every stage of a study depends on."""
    store.code_sha256.cache_clear()
    return store.code_sha256(*DECIDING, source=package)


def test_recolouring_a_caption_invalidates_nothing(package):
    before, frozen = key(package), code_hashes(package)
    edit(package / "draw/captions.py", '"""', '"""Now in green. ')
    edit(package / "report/figures/style.py", '"""', '"""Now in green. ')
    assert key(package) == before
    _same_code(frozen, package)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("arena/constants.py", "= 0.03165, 0.04815", "= 0.03165, 0.04816"),
        ("task/core/defend.c", "STILL_SPEED = 0.1", "STILL_SPEED = 0.2"),
        ("policies/arithmetic.py", "LANES = 16", "LANES = 8"),
    ],
)
def test_changing_what_decides_invalidates_everything(package, name, old, new):
    before, frozen = key(package), code_hashes(package)
    edit(package / name, old, new)
    assert key(package) != before
    with pytest.raises(BadFile, match=f"{Path(name).name} was changed after the freeze"):
        _same_code(frozen, package)
