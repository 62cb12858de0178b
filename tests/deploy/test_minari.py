"""Export to Minari."""

import os

import numpy as np
import pytest
from distil_fakes import EchoTeacher

from blindsave.cli.distil import DatasetExport
from blindsave.deploy.minari import FOLDER_VARIABLE, export_minari, rewards
from blindsave.errors import BadInput
from blindsave.learning.distil import CollectionSchedule, collect
from blindsave.policies.students.student import Student
from blindsave.task.outcomes import Outcome
from blindsave.testing.training import random_episodes

INPUTS = {"behaviour": "ab" * 32}


@pytest.fixture(scope="module")
def student():
    return Student.untrained("structured_k0", 1)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, student):
    root = tmp_path_factory.mktemp("datasets")
    return collect(root, student, CollectionSchedule(12), INPUTS, EchoTeacher(), shard_episodes=5)


@pytest.mark.filterwarnings("error")
def test_minari_loads_the_export_and_its_environment(dataset, tmp_path, monkeypatch):
    minari = pytest.importorskip("minari")
    DatasetExport(dataset.artifact.folder, tmp_path, "blindsave/test-v0").run()
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    loaded, data = minari.load_dataset("blindsave/test-v0"), dataset.episodes
    assert loaded.total_episodes == 12 and loaded.total_steps == len(data.obs)
    for i, episode in enumerate(loaded.iterate_episodes()):
        rows = data.rows(i)
        assert np.array_equal(episode.observations[:-1], data.obs[rows])
        assert np.array_equal(episode.observations[-1], data.final_obs[i])
        assert np.array_equal(episode.actions, data.action[rows])
        assert np.array_equal(episode.infos["label"][:-1], data.label[rows])
        assert np.isclose(episode.rewards.sum(), data.score[i])
        assert episode.terminations[-1] != episode.truncations[-1]
        assert len(episode.infos["label"]) == len(episode.observations)
    env = loaded.recover_environment()
    options = next(iter(loaded.storage.get_episode_metadata([0])))["options"]
    first, info = env.reset(options=options)
    assert info["shot"] == options["shot"] and np.array_equal(first, data.obs[0])


@pytest.mark.parametrize("name", ["noversion", "../../x-v0", "/x-v0", "a//b-v0", "", "x" * 300 + "-v0"])
def test_a_name_that_is_none_of_minaris_is_refused_before_anything_is_written(dataset, tmp_path, name):
    with pytest.raises(BadInput, match="named like"):
        DatasetExport(dataset.artifact.folder, tmp_path / "out", name).run()
    assert not list(tmp_path.iterdir())


def test_rewards_are_the_touch_and_the_end(dataset):
    data = dataset.episodes
    for i in range(len(data)):
        values = rewards(data, i)
        assert len(values) == data.steps[i]
        assert values.sum() == pytest.approx(data.score[i])
        touched = int(data.first_contact[i])
        paid = {touched - 1, len(values) - 1} if touched >= 1 else {len(values) - 1}
        assert set(np.flatnonzero(values)) <= paid


def test_a_touch_in_the_last_step_is_paid_with_the_end():
    data = random_episodes([4])
    data.outcome[:], data.first_contact[:] = Outcome.GOAL_CONCEDED, 4
    assert rewards(data, 0).tolist() == pytest.approx([0, 0, 0, -0.8])
    data.outcome[:], data.first_contact[:] = Outcome.TIMEOUT_WITHOUT_CONTACT, -1
    assert rewards(data, 0).tolist() == [0, 0, 0, 0]


@pytest.mark.filterwarnings("ignore")
def test_an_existing_dataset_is_not_overwritten_and_the_environment_is_left_alone(dataset, tmp_path, monkeypatch):
    pytest.importorskip("minari")
    monkeypatch.setenv(FOLDER_VARIABLE, "/somewhere/else")
    target = export_minari(dataset, "blindsave/mine-v0", tmp_path)
    assert target == tmp_path / "blindsave" / "mine-v0" and target.is_dir()
    assert os.environ[FOLDER_VARIABLE] == "/somewhere/else"
    with pytest.raises(BadInput, match="mine-v0 already exists"):
        export_minari(dataset, "blindsave/mine-v0", tmp_path)
