"""Freeze and release: every changed byte is named, the test is opened once, and a killed release is completed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from crashes import Crash, crash_at
from sealed_study import REPOSITORY, Study, play_by_rule

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.evidence.freeze import open_frozen, sealed_seed
from blindsave.evidence.release import released, sealed_shots
from blindsave.task.shots import shots


@pytest.fixture
def study(tmp_path) -> Study:
    return Study(tmp_path / "study").prepare()


@pytest.fixture(scope="module")
def reference(tmp_path_factory) -> tuple[Path, dict[str, str]]:
    """A frozen study, and the hashes of the tables an undisturbed release of it writes."""
    frozen = Study(tmp_path_factory.mktemp("frozen") / "study").prepare()
    frozen.freeze()
    copy = Study(tmp_path_factory.mktemp("whole") / "study")
    shutil.copytree(frozen.root, copy.root)
    done = copy.release()
    return frozen.root, {split: store.sha256_file(path) for split, path in done.tables.items()}


def test_sealed_shots_have_the_design_of_the_principal_test_and_none_of_its_shots():
    sealed = sealed_shots(123)
    design = sorted((shot.launch_region, shot.target_region) for shot in shots("principal_test"))
    assert sorted((shot.launch_region, shot.target_region) for shot in sealed) == design
    assert not {shot.launch for shot in sealed} & {shot.launch for shot in shots("principal_test")}
    assert sealed != sealed_shots(124)


@pytest.mark.parametrize(
    "name",
    [
        "protocol.toml",
        "models/students/structured_k0/14304.safetensors",
        "models/teacher/teacher.safetensors",
        "results/validation/validation.parquet",
        "results/datasets/base/manifest.json",
        "results/efficiency/latency.json",
        "results/freeze.json",
        "code/arena/scene.py",
    ],
)
def test_one_flipped_byte_anywhere_keeps_the_test_closed_and_is_named(study, name):
    study.freeze()
    path = study.root / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(BadFile, match=Path(name).name):
        study.release()
    assert study.ledger.last("opening") is None
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    open_frozen(study.manifest, study.root, study.code)


def test_missing_and_added_files_are_named(study):
    study.freeze()
    (study.code / "arena" / "extra.py").touch()
    with pytest.raises(BadFile, match=r"extra\.py was added"):
        study.release()
    (study.code / "arena" / "extra.py").unlink()
    (study.root / "models/teacher/teacher.safetensors").unlink()
    with pytest.raises(BadFile, match=r"teacher\.safetensors was frozen and is now missing"):
        study.release()


def test_unbound_files_may_change(study):
    study.freeze()
    (study.code / "cli" / "print.py").write_text("changed")
    assert study.release().results.kind == "results"


def test_the_test_opens_once(study):
    study.freeze()
    done = study.release()
    assert [entry.kind for entry in study.ledger.entries()] == ["freeze", "opening", "results"]
    assert done.opening.content["sealed_seed"] == sealed_seed(done.opening.content["freeze_sha256"])
    assert done.to_dict()["save_rates"]["sealed_test"]["teacher"]["20"]["shots"] == 225
    with pytest.raises(BadInput, match="cannot be opened again"):
        study.release()
    with pytest.raises(BadInput, match="nothing can be frozen any more"):
        study.freeze()
    assert released(study.ledger, study.out) == done


def test_another_freeze_cannot_complete_or_repeat_an_opening(study):
    study.freeze()

    def die(*_):
        raise Crash

    with pytest.raises(Crash):
        study.release(die)
    (study.root / "results/efficiency/latency.json").write_text("{ }")
    with pytest.raises(BadInput, match="nothing can be frozen"):
        study.freeze()
    with pytest.raises(BadFile, match=r"latency\.json was changed"):
        study.release()


def test_a_file_changed_while_the_test_is_played_spoils_the_results(study):
    study.freeze()

    def meddle(*arguments):
        (study.code / "arena" / "scene.py").write_text("table = 2")
        return play_by_rule(*arguments)

    with pytest.raises(BadFile, match=r"scene\.py was changed"):
        study.release(meddle)
    assert study.ledger.last("results") is None
    (study.code / "arena" / "scene.py").write_text("table = 1")
    assert study.release().results.kind == "results"


def test_an_older_freeze_is_not_released(study):
    study.freeze()
    old = study.manifest.read_bytes()
    (study.root / "results/efficiency/latency.json").write_text("{ }")
    study.freeze()
    (study.root / "results/efficiency/latency.json").write_text("{}")
    study.manifest.write_bytes(old)
    with pytest.raises(BadFile, match="not the newest freeze"):
        study.release()


def test_tables_without_an_opening_are_refused(study):
    study.freeze()
    study.out.mkdir(parents=True)
    (study.out / "sealed_test.parquet").touch()
    with pytest.raises(BadFile, match="knows of no opening"):
        study.release()


def test_a_changed_result_is_found(study):
    study.freeze()
    path = study.release().tables["sealed_test"]
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(BadFile, match=r"sealed_test\.parquet was changed after the release"):
        released(study.ledger, study.out)


def test_a_release_that_dies_at_any_durable_step_is_completed_under_the_same_opening(reference, tmp_path, monkeypatch):
    frozen, wanted = reference
    nth, finished = 1, False
    while not finished:
        study = Study(tmp_path / str(nth))
        shutil.copytree(frozen, study.root)
        with monkeypatch.context() as patch:
            crash_at(patch, nth)
            try:
                study.release()
                finished = True
            except Crash:
                pass
        before = study.ledger.last("opening")
        if study.ledger.last("results") is None:
            study.release()
        _is_whole(study, wanted)
        assert before is None or study.ledger.last("opening") == before
        nth += 9  # every ninth step: different places of the same loop over policies
    assert nth > 60


@pytest.mark.parametrize("nth", [2, 30, 95])
def test_a_killed_release_is_completed_by_the_same_command(reference, tmp_path, nth):
    """The real thing: the process is gone in the middle, with no handler run."""
    frozen, wanted = reference
    study = Study(tmp_path / "study")
    shutil.copytree(frozen, study.root)
    script = (
        "import os, pathlib, sys\n"
        "from crashes import crash_at, pytest\n"
        "from sealed_study import Study\n"
        "crash_at(pytest.MonkeyPatch(), int(sys.argv[2]), lambda: os._exit(9))\n"
        "Study(pathlib.Path(sys.argv[1])).release()\n"
    )
    here = str(Path(__file__).parents[1] / "support")
    command = [sys.executable, "-c", script, str(study.root), str(nth)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])}
    assert subprocess.run(command, env=environment, cwd=REPOSITORY, check=False).returncode == 9
    study.release()
    _is_whole(study, wanted)


def _is_whole(study: Study, wanted: dict[str, str]) -> None:
    assert [entry.kind for entry in study.ledger.entries()] == ["freeze", "opening", "results"]
    done = released(study.ledger, study.out)
    assert done is not None
    assert {split: store.sha256_file(path) for split, path in done.tables.items()} == wanted
