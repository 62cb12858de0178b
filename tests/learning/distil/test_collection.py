"""A dataset collected shard by shard is the dataset collected at once."""

import os

import pytest
from distil_fakes import EchoTeacher

from blindsave import store
from blindsave.errors import Damaged
from blindsave.learning.distil import CollectionSchedule, collect, episodes_of
from blindsave.learning.distil.collection import Collection
from blindsave.policies.students.student import Student

INPUTS = {"policy": "0" * 64}


SCHEDULE, SHARD_EPISODES = CollectionSchedule(12), 5


STUDENT = Student.untrained("structured_k0", 1)


def collection(root, **options) -> Collection:
    return Collection(root, STUDENT, SCHEDULE, INPUTS, EchoTeacher(), shard_episodes=SHARD_EPISODES, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return collect(tmp_path_factory.mktemp("whole"), STUDENT, SCHEDULE, INPUTS, EchoTeacher(), shard_episodes=5)


def content(dataset):
    manifest = dataset.artifact.manifest
    return {name: manifest[name] for name in ("kind", "configuration", "inputs", "files", "result")}


@pytest.mark.parametrize("prepared", [(), (1,), (2, 0, 1), (0, 0)])
def test_shards_prepared_in_any_order_give_the_same_dataset(whole, tmp_path, prepared, monkeypatch):
    mine = collection(tmp_path)
    assert [part.episodes for part in mine.shards] == [5, 5, 2]
    for number in prepared:
        mine.prepare(number)
    played = []
    real = Collection._play
    monkeypatch.setattr(Collection, "_play", lambda self, n, folder: played.append(n) or real(self, n, folder))
    told = []
    dataset = mine.dataset(told.append)
    assert played == [number for number in range(3) if number not in prepared]
    assert sum(told) == SCHEDULE.episodes
    assert content(dataset) == content(whole)
    assert dataset.artifact.folder.name == whole.artifact.folder.name
    for path in whole.shard_files:
        assert (dataset.artifact.folder / path.name).read_bytes() == path.read_bytes()
    assert not list((tmp_path / "shard").glob("*")) if prepared else True


def test_the_time_of_prepared_shards_is_kept(tmp_path):
    mine = collection(tmp_path)
    for number in range(3):
        mine.prepare(number)
    earlier = [store.open_artifact(path).manifest["wall_s"] for path in (tmp_path / "shard").iterdir()]
    assert mine.dataset().artifact.manifest["wall_s"] >= sum(earlier) > 0


def test_nothing_is_prepared_for_a_dataset_that_is_there(tmp_path):
    mine = collection(tmp_path)
    mine.dataset()
    mine.prepare(0)
    assert not (tmp_path / "shard").exists()


def test_a_damaged_shard_is_named_and_can_be_made_again(whole, tmp_path):
    mine = collection(tmp_path)
    mine.prepare(1)
    (shard,) = (tmp_path / "shard").glob("*/shard-0001.safetensors")
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(Damaged, match=r"shard-0001\.safetensors is damaged") as raised:
        mine.dataset()
    assert raised.value.piece == shard.parent
    os.rename(shard.parent, tmp_path / "aside")
    assert content(mine.dataset()) == content(whole)


def test_a_file_system_without_second_names_gets_copies(whole, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(1, "not permitted")

    monkeypatch.setattr(os, "link", refuse)
    mine = collection(tmp_path)
    mine.prepare(0)
    assert content(mine.dataset()) == content(whole)


def test_recorded_episodes_can_be_used_without_a_file():
    assert len(episodes_of(Student.untrained("feed_forward", 1), CollectionSchedule(2))) == 2
