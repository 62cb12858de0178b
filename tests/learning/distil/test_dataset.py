import json

import numpy as np
import pytest
from distil_fakes import EchoTeacher, TrackerTeacher

from blindsave.cli import execute
from blindsave.cli.distil import DatasetVerify
from blindsave.errors import BadFile
from blindsave.learning.distil import CollectionSchedule, Dataset, Episodes, collect, concatenate, episodes_of, record
from blindsave.learning.distil.dataset import audit_repeats, check, summary
from blindsave.learning.distil.schedule import draw
from blindsave.policies.students.student import Student

INPUTS = {"policy": "0" * 64}


@pytest.fixture(scope="module")
def student():
    return Student.untrained("structured_k0", 1)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, student):
    root = tmp_path_factory.mktemp("datasets")
    return collect(root, student, CollectionSchedule(12), INPUTS, EchoTeacher(), shard_episodes=5)


def test_a_dataset_holds_what_was_played(dataset, student):
    data, fields = dataset.episodes, record(student, CollectionSchedule(12), EchoTeacher())
    for name, values in fields.items():
        assert np.array_equal(getattr(data, name), values), name
    assert [path.name for path in dataset.shard_files] == [f"shard-{i:04d}.safetensors" for i in range(3)]
    assert data.offsets[-1] == len(data.obs) == data.steps.sum()
    assert (data.obs[data.offsets[:-1], 18] == 1).all()  # every episode begins in sight


def test_shards_are_memory_maps(dataset):
    obs = dataset.shards()[0].obs
    while obs.base is not None and not isinstance(obs, np.memmap):
        obs = obs.base
    assert isinstance(obs, np.memmap) and not dataset.shards()[0].obs.flags.writeable


def test_an_existing_dataset_is_opened_instead_of_played_again(dataset, student):
    def never(_count):
        raise AssertionError("played again")

    root = dataset.artifact.folder.parent.parent
    again = collect(root, student, CollectionSchedule(12), INPUTS, EchoTeacher(), shard_episodes=5, progress=never)
    assert again.sha256 == dataset.sha256


def test_the_content_hash_does_not_depend_on_when_or_with_how_many_threads(dataset, student, tmp_path):
    again = collect(tmp_path, student, CollectionSchedule(12), INPUTS, EchoTeacher(), shard_episodes=5, threads=1)
    assert again.sha256 == dataset.sha256


@pytest.mark.parametrize("policy", [TrackerTeacher(), Student.untrained("gru_n64", 1)], ids=lambda p: p.name)
def test_repeated_pairs_are_byte_identical(policy):
    """Some of the first 1,000 base episodes are repeats; only those are played here."""
    drawn = draw(CollectionSchedule(1000))
    pairs = np.stack([drawn.shot, drawn.blackout], axis=1)
    _, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    chosen = [np.flatnonzero((pairs == pairs[i]).all(1)) for i in first[counts > 1]][:4]
    parts = [episodes_of(policy, CollectionSchedule(1000).part(i, i + 1)) for pair in chosen for i in pair]
    assert audit_repeats(concatenate(parts)) == (4, 0)


def test_an_audit_finds_repeats_that_differ(dataset):
    one = {
        name: np.array(value)
        for name, value in record(Student.untrained("feed_forward", 1), CollectionSchedule(1)).items()
    }
    other = one | {"index": one["index"] + 1, "label": one["label"] + np.float32(1e-6)}
    assert audit_repeats(concatenate([Episodes(**one), Episodes(**other)])) == (1, 1)


def test_a_dataset_passes_its_checks_and_counts_itself(dataset):
    check(dataset)
    counts = summary(dataset)
    assert counts["episodes"] == 12 and counts["transitions"] == len(dataset.episodes.obs)
    assert sum(counts["outcomes"].values()) == 12
    assert dataset.artifact.manifest["result"]["shadow_queries"] == counts["transitions"]


def test_a_changed_byte_is_named(student, tmp_path):
    dataset = collect(tmp_path, student, CollectionSchedule(2), INPUTS)
    path = dataset.shard_files[0]
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"shard-0000.safetensors is damaged"):
        DatasetVerify(dataset.artifact.folder).run()


def test_a_foreign_artifact_is_no_dataset(tmp_path):
    from blindsave import store

    other = store.make(tmp_path, "table", {}, {}, lambda folder: None)
    with pytest.raises(BadFile, match="not a dataset"):
        Dataset.open(other.folder)


def test_the_commands_describe_and_verify(dataset, capsys):
    folder = str(dataset.artifact.folder)
    execute(["dataset", "info", folder, "--json"])
    assert json.loads(capsys.readouterr().out)["sha256"] == dataset.sha256
    execute(["dataset", "info", folder])  # it has no words of its own: its values are listed
    assert dataset.sha256 in capsys.readouterr().out
    verify = DatasetVerify(dataset.artifact.folder)
    assert verify.run()["ok"]
    verify.show(verify.run())
    assert "12 episodes verified" in capsys.readouterr().out
