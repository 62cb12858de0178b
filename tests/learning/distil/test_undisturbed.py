"""A teacher may label what it would have seen without the faults that its student sees."""

import numpy as np
import pytest
from distil_fakes import TrackerTeacher

from blindsave.learning.distil import CollectionSchedule, collect
from blindsave.learning.distil.collection import record
from blindsave.learning.distil.undisturbed import undisturbed
from blindsave.policies import closed_loop
from blindsave.policies.catalog import resolve
from blindsave.task.conditions import condition
from blindsave.task.shots import shots

BLIND = resolve("fixed_centre").policy
"""Does the same whatever it sees, so that faults change nothing but the observations."""
LENGTHS = np.array([0, 7, 20])
FAULTS = "frozen+outliers_30percent+warp_10mm"


def played(name):
    episodes = [condition(name).episode(shot, int(n)) for shot in shots("validation")[:6] for n in LENGTHS]
    return closed_loop.run(BLIND, episodes, threads=1, record=True)


@pytest.mark.parametrize("name", ["clean", FAULTS, "latency_2", "bursts_30percent", "again_8", "puck_drag_1"])
def test_it_is_what_the_clean_episode_showed_to_the_bit(name):
    disturbed, clean = played(name), played("clean")
    found = undisturbed(disturbed.obs, disturbed.truth, np.tile(LENGTHS, 6))
    valid = np.arange(clean.obs.shape[1]) <= clean.steps[:, None]
    assert np.array_equal(disturbed.steps, clean.steps)
    assert np.array_equal(found[valid], clean.obs[valid])
    assert name in ("clean", "puck_drag_1") or not np.array_equal(disturbed.obs[valid], clean.obs[valid])


@pytest.mark.parametrize("own", [True, False])
def test_labels_do_not_hear_of_the_faults_but_observations_do(own):
    """Labels of a fault's episodes are those of the same episodes without it, whoever plays."""
    policy, teacher = (TrackerTeacher(), None) if own else (BLIND, TrackerTeacher())
    schedule = CollectionSchedule(10, conditions=((FAULTS, 1.0),))
    misled = record(policy, schedule, teacher, threads=1)
    told = record(policy, schedule, teacher, threads=1, without_faults=True)
    assert np.array_equal(misled["obs"], told["obs"]) and np.array_equal(misled["action"], told["action"])
    assert not np.array_equal(misled["label"], told["label"])
    if not own:
        clean = record(policy, CollectionSchedule(10), teacher, threads=1)
        assert np.array_equal(told["label"], clean["label"])


def test_without_faults_it_changes_nothing():
    teacher = TrackerTeacher()
    plain, told = (record(teacher, CollectionSchedule(5), threads=1, without_faults=w) for w in (False, True))
    assert all(np.array_equal(plain[name], told[name]) for name in plain)


def test_a_dataset_says_how_it_was_labelled(tmp_path):
    schedule = CollectionSchedule(5, conditions=(("frozen", 1.0),))
    inputs = {"teacher": "0" * 64}
    plain = collect(tmp_path, TrackerTeacher(), schedule, inputs)
    told = collect(tmp_path, TrackerTeacher(), schedule, inputs, undisturbed=True)
    assert plain.artifact.folder != told.artifact.folder
    assert told.configuration["labels"] == "own, undisturbed"
    assert told.artifact.manifest["result"]["shadow_queries"] == told.artifact.manifest["result"]["transitions"]
