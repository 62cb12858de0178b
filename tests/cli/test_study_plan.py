"""What `--plan` says: exact counts, core hours and wall time for a number of cores."""

import json
import re
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.cli.study_plan import planned, show_plan
from blindsave.errors import BadInput
from blindsave.stages.estimate import RATES
from blindsave.stages.scales import PAPER, SMOKE
from blindsave.stages.study_file import read_study_file

PAGE = Path(__file__).parents[2] / "docs" / "study-files.md"


def examples() -> dict[str, str]:
    """The study files of the page, by the name they give themselves."""
    blocks = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return {name[1]: block for block in blocks if (name := re.search(r'^name = "(.+)"$', block, re.M))}


def test_the_papers_episodes_are_counted_exactly():
    plan = planned(PAPER, 2)
    assert plan["total"]["episodes"] == 324_223
    assert plan["students"] == 35
    by_stage = {one["stage"]: one for one in plan["plan"]}
    assert by_stage["collectors"]["passes"] == 7 * 5 * 20_000 * 100
    assert by_stage["finals"]["passes"] == 7 * 5 * 40_000 * 100


def test_three_lines_make_a_study(tmp_path):
    text = examples()["sizes"]
    assert len([line for line in text.splitlines() if line and not line.startswith("#")]) == 3
    (tmp_path / "any.toml").write_text(text)
    scale = read_study_file(tmp_path / "any.toml").scale
    assert scale.families == ("structured_k0_n16", "structured_k0", "gru_n16", "gru_n64")
    assert planned(scale, 2)["students"] == 8


def test_fifty_seeds_of_twelve_families_in_five_sizes_are_planned(tmp_path):
    (tmp_path / "any.toml").write_text(examples()["large"])
    scale = read_study_file(tmp_path / "any.toml").scale
    assert len(scale.training_seeds) == 50
    assert len(scale.families) == len(set(scale.families)) == 12 * 5
    plan = planned(scale, 64)
    assert plan["students"] == 3000
    by_stage = {one["stage"]: one for one in plan["plan"]}
    assert by_stage["shadow"]["episodes"] == 60 * 20_000
    assert by_stage["validation"]["episodes"] == 3001 * 225 * 5
    assert by_stage["release"]["episodes"] == 3001 * 225 * 6
    assert by_stage["noise"]["episodes"] == (10 * 50 + 1) * 225 * 6
    assert plan["total"]["cpu_hours"] > 100


def test_teachers_multiply_everything():
    one, two = planned(SMOKE, 1), planned(SMOKE, 1, ["a", "b"])
    for name in ("tasks", "episodes", "passes"):
        assert two["total"][name] == 2 * one["total"][name]
    assert two["total"]["core_s"] == pytest.approx(2 * one["total"]["core_s"], abs=0.2)
    assert two["students"] == 2 * one["students"]


def test_core_hours_do_not_depend_on_the_machine_but_time_does():
    small, large = (planned(PAPER, cores) for cores in (1, 16))
    assert small["total"]["core_s"] == large["total"]["core_s"]
    assert small["total"]["seconds"] == pytest.approx(small["total"]["core_s"], abs=1)
    assert large["total"]["seconds"] < small["total"]["seconds"] / 2


def test_the_plan_is_printed_with_what_must_be_known(tmp_path, capsys):
    (tmp_path / "any.toml").write_text('families = ["gru_n7"]\ntest_splits = ["principal_test"]')
    cli.execute(["study", str(tmp_path / "any.toml"), "--plan", "--cores", "3"])
    said = capsys.readouterr().out
    assert "any: 1 family x 2 training seeds = 2 students" in said
    assert "on 3 cores" in said
    assert "opens the published principal test" in said
    assert max(map(len, said.splitlines()[:-3])) <= 80
    with pytest.raises(BadInput, match="--cores must be at least 1"):
        cli.execute(["study", "--plan", "--cores", "0"])


def test_a_large_plan_fits_a_terminal(tmp_path, capsys):
    (tmp_path / "any.toml").write_text(examples()["large"])
    show_plan(planned(read_study_file(tmp_path / "any.toml").scale, 64))
    assert "…" not in capsys.readouterr().out


def test_the_plan_in_json_has_everything(capsys):
    cli.execute(["study", "--scale", "smoke", "--plan", "--cores", "4", "--json"])
    plan = json.loads(capsys.readouterr().out)
    assert plan["planned_for"] == {"cores": 4}
    assert plan["study"]["families"] == list(SMOKE.families)
    for one in (*plan["plan"], plan["total"]):
        assert one.keys() >= {"tasks", "episodes", "passes", "core_s", "seconds", "cpu_hours"}


def test_bench_study_plans_with_what_it_measured(monkeypatch, capsys, tmp_path):
    doubled = {unit: 2 * rate for unit, rate in RATES.items()}
    monkeypatch.setattr("blindsave.stages.bench.measure_rates", lambda families, episodes, tell: doubled)
    words = ["bench", "study", "--scale", "paper", "--cores", "1", "--results", str(tmp_path)]
    cli.execute([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["total"]["core_s"] == pytest.approx(2 * planned(PAPER, 1, rates=RATES)["total"]["core_s"], 1e-4)
    assert found["total_s"] == found["total"]["seconds"]
    cli.execute(words)
    assert "on 1 core" in capsys.readouterr().out
