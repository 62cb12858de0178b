"""The commands of the memory task, as a user calls them, on students of a moment."""

import json
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.errors import BadInput
from blindsave.verify import verify

REPOSITORY = Path(__file__).parents[2]
PLAN = REPOSITORY / "results/remember/horizon/protocol.toml"


def run(capsys, *words: str) -> dict:
    cli.execute([*words, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def small_plan(tmp_path) -> Path:
    """The shipped plan with two families, one guest and two holds."""
    text = PLAN.read_text("utf-8")
    begin, end = text.index("families = ["), text.index("reference = ")
    text = text[:begin] + 'families = ["feed_forward", "gru_n1"]\ntraining_seeds = [1, 2]\n' + text[end:]
    begin, end = text.index("differences = [0]"), text.index("[endpoint]")
    text = text[:begin] + "kalman = [0]\n\n" + text[end:]
    text = text.replace('"remember_0", "remember_5", "remember_10", "remember_15", "remember_20"', '"remember_20"')
    begin, end = text.index("[[hypotheses]]"), text.index("[freeze]")
    asked = '[[hypotheses]]\nid = "x"\nstatement = "s"\nkind = "superiority"\na = "gru_n1"\nb = "feed_forward"\n'
    asked += 'split = "sealed_test"\ndisturbance = "remember_20"\n\n'
    (tmp_path / "plan.toml").write_text(text[:begin] + asked + text[end:])
    return tmp_path / "plan.toml"


def test_from_plan_to_verdicts_and_everything_verifies(small_plan, tmp_path, capsys):
    folder = tmp_path / "study"
    results = folder / "results"
    small = ("--base-episodes", "20", "--epochs", "1")
    told = run(capsys, "remember", "train", str(small_plan), "--out", str(folder), *small)
    assert told["trained"] == ["feed_forward", "gru_n1"]
    assert run(capsys, "remember", "train", str(small_plan), "--out", str(folder), *small)["trained"] == []
    seal = ("--root", str(folder), "--ledger", str(results / "ledger.jsonl"))
    freeze = results / "freeze.json"
    run(capsys, "freeze", "--plan", str(folder / "protocol.toml"), *seal, "--out", str(freeze))
    places = ("--out", str(results / "test"), "--work", str(tmp_path / "work"))
    run(capsys, "release", "--manifest", str(freeze), *seal, *places)
    assert verify(folder).ok
    table = results / "test" / "sealed_test.parquet"
    found = run(capsys, "remember", "curves", str(table), "--plan", str(folder / "protocol.toml"))
    assert {one["policy"] for one in found["curves"]} == {"feed_forward", "gru_n1", "kalman", "planner"}
    assert found["bars"]["planner_saved"]["met"]
    assert not found["bars"]["best_conceded"]["met"]  # after one epoch
    (verdict,) = found["verdicts"]
    assert verdict["id"] == "x"
    assert verdict["contrast"]["p_holm"] == verdict["contrast"]["p"]  # one hypothesis, nothing to adjust


def test_the_shipped_plan_can_be_read_and_names_families_that_exist():
    from blindsave.evidence.plan import load_plan
    from blindsave.policies.students.registry import family

    plan = load_plan(PLAN)
    for name in plan.families:
        family(name)
    assert {hypothesis.disturbance for hypothesis in plan.hypotheses} <= set(plan.grids["sealed_test"].conditions)


def test_copying_is_looked_for_in_any_policy(tmp_path, capsys):
    words = ("--holds", "10", "--pairs", "3", "--out", str(tmp_path / "c.json"))
    (row,) = run(capsys, "remember", "copying", "kalman", *words)["rows"]
    assert (row["kept_out"], row["kept_out_misheard"], row["shots"]) == (6, 6, 6)
    assert json.loads((tmp_path / "c.json").read_text())["rows"] == [row]


def test_a_linear_memory_holds_the_side_and_a_window_reads_it_off_its_arm(tmp_path, capsys):
    files = [f"{REPOSITORY}/models/remember/{name}/14303.safetensors" for name in ("structured_k0", "finite_stack_10")]
    found = run(capsys, "remember", "notebook", *files, "--pairs", "4", "--out", str(tmp_path / "n.json"))
    linear, window = found["rows"]
    assert linear["kept_out"] == window["kept_out"] == window["memories_exchanged"] == window["shots"] == 8
    assert linear["memories_exchanged"] == 0 and window["twins_arm_shown"] < linear["twins_arm_shown"]
    assert json.loads((tmp_path / "n.json").read_text()) == found


def test_who_reads_the_truth_has_no_notebook():
    with pytest.raises(BadInput, match="planner reads the truth"):
        cli.execute(["remember", "notebook", "planner", "--pairs", "1"])


def test_a_family_that_the_plan_does_not_have_is_refused(tmp_path):
    with pytest.raises(BadInput, match="has no family gru_n3"):
        cli.execute(["remember", "train", str(PLAN), "--families", "gru_n3", "--out", str(tmp_path)])
