"""The students' benchmark: what is compared with what, and that ratios are those of the figures beside them."""

import json

import pytest

from blindsave.bench import students as bench

SMALL = {"episodes": 40, "rounds": 1, "collection": False}


def test_alone_only_the_trainer_of_this_machine_is_timed():
    result = bench.bench(["feed_forward"], compared=False, **SMALL)
    (row,) = result["families"].values()
    assert row["trainer"] == "native" and row["transitions_per_s"] > 0
    assert not {"times_jax", "times_torch", "times_cpu"} & row.keys()
    assert "cpu" not in result and result["episodes"] == 40


def test_on_a_cpu_the_other_trainers_are_timed_too():
    (row,) = bench.bench(["feed_forward"], torch_updates=1, **SMALL)["families"].values()
    assert row["times_jax"] == pytest.approx(row["transitions_per_s"] / row["jax_transitions_per_s"])
    if "times_torch" in row:
        assert row["times_torch"] == pytest.approx(row["transitions_per_s"] / row["torch_transitions_per_s"])


def test_an_accelerator_is_compared_with_the_same_work_on_this_cpu(monkeypatch):
    asked = []

    def on_cpu(families, episodes, rounds):
        asked.append((tuple(families), episodes, rounds))
        return {"families": {name: {"transitions_per_s": 10.0} for name in families}}

    def timed(name, data, rounds, torch_updates, execution):
        return {"transitions_per_s": 250.0}

    monkeypatch.setattr(bench, "_bench_on_cpu", on_cpu)
    monkeypatch.setattr(bench, "_bench_family", timed)
    monkeypatch.setattr(bench.jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(bench, "ACCELERATED_EPISODES", 60)
    result = bench.bench(["feed_forward", "gru_n64"], rounds=2, collection=False)
    assert asked == [(("feed_forward", "gru_n64"), 60, 2)]
    assert [row["times_cpu"] for row in result["families"].values()] == [25.0, 25.0]


def test_the_comparison_on_the_cpu_is_a_command_that_works():
    found = bench._bench_on_cpu(["feed_forward"], 40, 1)
    assert found["platform"] == "cpu" and found["families"]["feed_forward"]["trainer"] == "native"
    assert json.dumps(found)
