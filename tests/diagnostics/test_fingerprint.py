"""What a fingerprint says is what the study's own tools say of the same teacher, and it says it again every time."""

import json

import numpy as np
import pytest
from tiny_teachers import frozen_teacher, training

from blindsave.diagnostics import fingerprint as fingerprints
from blindsave.diagnostics.fingerprint import LENGTHS, Extent, fingerprint, timing
from blindsave.diagnostics.nearest import nearest_history
from blindsave.diagnostics.teacher_files import FoundTeacher, find_teacher
from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.learning.distil.collection import episodes_of
from blindsave.learning.distil.schedule import base_schedule
from blindsave.policies.catalog import models_folder
from blindsave.task.interface import MALLET
from blindsave.task.results import EpisodeResults

TRIAL = Extent(shots=2, episodes=390)  # the 388th is the first clear one for validation


@pytest.fixture(scope="module", autouse=True)
def few_timed_episodes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprints, "TIMED_EPISODES", 5)
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> FoundTeacher:
    return find_teacher(str(frozen_teacher(tmp_path_factory.mktemp("teachers") / "tiny.safetensors")))


@pytest.fixture(scope="module")
def counted() -> list[int]:
    return []


@pytest.fixture(scope="module")
def taken(tiny, counted):
    return fingerprint(tiny, TRIAL, threads=1, progress=counted.append)


def test_a_fingerprint_is_json_and_the_same_for_any_number_of_threads(tiny, taken):
    assert json.dumps(fingerprint(tiny, TRIAL, threads=2)) == json.dumps(taken)
    assert taken["sha256"] == tiny.sha256 and taken["step"] == 60
    assert list(taken["saves"]) == ["deterministic"]  # a frozen teacher alone has no spread to draw from
    assert sum(taken["outcomes"]["deterministic"].values()) == 2 * len(LENGTHS)


@pytest.mark.usefixtures("taken")
def test_everything_that_is_played_is_counted_beforehand(tiny, counted):
    assert sum(counted) == TRIAL.count(tiny) == 2 * 5 + 2 * (2 * 4) + len(TRIAL.clear) + 5


def test_histories_are_those_of_the_base_data_with_only_the_clear_episodes_played():
    quick = find_teacher("structured_k0/14303")  # any policy may be a teacher, and this one makes short work of shots
    base = episodes_of(quick.policy, base_schedule(390))
    expected = nearest_history(base, base)["teacher"]
    found = fingerprints.nearest_histories(quick, TRIAL)
    assert isinstance(expected, dict)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    assert found["training_episodes"] + found["validation_episodes"] < len(TRIAL.clear) < 390 / 15


def test_the_whole_study_compares_as_many_episodes_as_the_papers_diagnostic():
    digits = np.array(list(Extent().clear)) % 10
    assert (digits < 8).sum() == 773 and (digits == 8).sum() == 89


def test_resets_of_the_shipped_teacher_are_those_of_the_memory_test():
    table = tables.read(models_folder().parent / "results/memory/state_reset.parquet").to_pylist()
    few = Extent(shots=8, episodes=390)
    members = {shot.id for shot in few.members("test")}
    found = fingerprints.state_reset(find_teacher("teacher"), few)
    for length, cell in found.items():
        rows = [row for row in table if row["shot_id"] in members and row["blackout"] == int(length)]
        kept, lost = (sum(r["save"] for r in rows if r["policy"] == name) for name in ("teacher", "teacher_reset"))
        assert (cell["saves"], cell["saves_after_reset"], cell["shots"]) == (kept, lost, 8)
        assert cell["drop"] == pytest.approx(100 * (kept - lost) / 8)


def test_a_training_is_also_sampled_as_its_validation_does(tmp_path, quick_compilation):
    from blindsave.learning.dreamer.validate import validate

    folder = training(tmp_path / "run")
    found = fingerprint(find_teacher(str(folder)), TRIAL)
    (row,) = validate(folder, steps=[40], modes=("sampled",), shot_count=2)
    assert found["outcomes"]["sampled"] == row["outcomes"]
    rates = {length: cell["saves"] / cell["shots"] for length, cell in found["saves"]["sampled"].items()}
    assert rates == row["save_rate_by_length"]


def test_an_arm_is_half_way_when_its_side_is():
    played = EpisodeResults.blank(2 * len(LENGTHS), record=True)
    assert played.obs is not None
    played.first_contact[:] = 25
    side = played.obs[:, :, MALLET.stop - 1]
    side[-1, 10:] = 0.6  # only the longest blackout counts, and only arms that go somewhere have a half-way time
    side[-2, 5:] = 0.9
    assert timing(played) == {"first_contact_ms": 400.0, "halfway_ms": 100.0}
    played.first_contact[:] = -1
    assert timing(played) == {"first_contact_ms": None, "halfway_ms": None}


def test_too_few_and_too_many_base_episodes_are_refused():
    with pytest.raises(BadInput, match="has 20,000 episodes"):
        Extent(episodes=20_001)
    with pytest.raises(BadInput, match="take more"):
        Extent(episodes=10)
