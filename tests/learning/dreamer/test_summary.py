"""What a run came to, from the files it left."""

import json

import pytest

from blindsave.errors import BadFile
from blindsave.learning.dreamer.summary import summarise_run
from blindsave.store import write_json


def line(step, updates, speed, **more):
    return {"step": step, "updates": updates, "time_s": step / 10, "steps_per_s": 100.0, "updates_per_s": speed} | more


@pytest.fixture
def folder(tmp_path):
    lines = [line(100, 0, 0.0), line(200, 10, 4.0), line(300, 20, 8.0), line(600, 50, 6.0, saved=0.75)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return tmp_path


def row(step, mode, rate, score=0.5):
    return {"step": step, "mode": mode, "save_rate": rate, "score": score, "save_rate_by_length": {"10": 0.5, "5": 1.0}}


def test_steps_time_and_speed_are_read_and_the_warm_up_does_not_slow_the_median(folder):
    found = summarise_run(folder)
    assert (found["steps"], found["updates"], found["minutes"]) == (600, 50, 1.0)
    assert (found["updates_per_s_median"], found["save_rate_while_training"]) == (6.0, 0.75)
    assert "selected" not in found


def test_the_winner_by_sampled_saves_is_shown_in_both_modes_shortest_blackout_first(folder):
    rows = [row(200, "sampled", 0.8), row(200, "deterministic", 0.9), row(600, "sampled", 0.7)]
    write_json(folder / "validation.json", {"rows": rows})
    found = summarise_run(folder)
    assert (found["checkpoints"], found["selected"]) == (2, 200)
    assert {mode: rates["all"] for mode, rates in found["validation"].items()} == {"sampled": 0.8, "deterministic": 0.9}
    assert list(found["validation"]["sampled"]) == ["all", "5", "10"]


def test_a_run_that_has_not_learned_yet_has_no_speed_of_updates(folder):
    (folder / "metrics.jsonl").write_text(json.dumps(line(100, 0, 0.0)) + "\n")
    assert summarise_run(folder)["updates_per_s_median"] == 0.0


def test_a_folder_without_a_run_and_a_run_without_a_line_are_said_to_be_that(tmp_path):
    with pytest.raises(BadFile, match="holds no run"):
        summarise_run(tmp_path)
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(BadFile, match="has not said anything yet"):
        summarise_run(tmp_path)
