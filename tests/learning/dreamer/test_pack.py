"""Packs of checkpoints."""

import numpy as np
import pytest
from dreamer_cases import random_params

from blindsave import store
from blindsave.learning.dreamer import agent, checkpoint, pack
from blindsave.learning.dreamer.config import Config, Sizes

SIZES = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)


CONFIG = Config(SIZES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run's folder with three checkpoints of random agents."""
    root = tmp_path_factory.mktemp("run")
    for step in (0, 20, 40):
        checkpoint.Folder(root).save_params(step, random_params(SIZES, step), CONFIG)
    return root


def test_packs_stay_under_the_limit_and_give_the_same_actions_back(folder, tmp_path):
    one = sum(v.nbytes for v in _acting(folder, 0).values()) / 2**20
    paths = pack.pack(folder, tmp_path / "out", limit_mib=2.5 * one)
    assert [p.name for p in paths] == ["pack-00.safetensors", "pack-01.safetensors"]
    assert pack.unpack(paths, tmp_path / "back") == [0, 20, 40]
    for step in (0, 20, 40):
        for name, value in _acting(tmp_path / "back", step).items():
            np.testing.assert_array_equal(value, _acting(folder, step)[name])


def test_collecting_a_run_brings_winners_tables_and_the_best_checkpoints(folder, tmp_path):
    rows = [
        {"step": step, "mode": "sampled", "save_rate": rate, "score": 0.0}
        for step, rate in ((0, 0.1), (20, 0.9), (40, 0.5))
    ]
    store.write_json(folder / "validation.json", {"rows": rows, "winner": {"sampled": 20, "deterministic": 0}})
    for name in ("config.json", "metrics.jsonl"):
        store.write_whole(folder / name, "{}")
    paths = pack.collect(folder, tmp_path, top=1)
    assert {path.parent for path in paths} == {tmp_path}
    assert {path.name for path in paths} == {
        "config.json",
        "metrics.jsonl",
        "validation.json",
        "winner-000000000.safetensors",
        "winner-000000020.safetensors",
        "pack-00.safetensors",
    }
    assert pack.unpack([tmp_path / "pack-00.safetensors"], tmp_path / "back") == [0, 20]


def _acting(folder, step):
    return agent.acting_parameters(checkpoint.Folder(folder).load_params(step)[0])
