"""The eight faithful teachers: trained as said, selected by the rule, shipped as selected, described as they are."""

from pathlib import Path

import pytest

from blindsave.policies.files import read_policy
from blindsave.store import read_json

ROOT = Path(__file__).parents[1]
SEEDS = range(7303, 7311)
LENGTHS = ("0", "5", "10", "15", "20")


def said(row: dict) -> str:
    by_length = ", ".join(f"{100 * row['save_rate_by_length'][k]:.1f}" for k in LENGTHS)
    return f"{100 * row['save_rate']:.2f} ({by_length})"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faithful_teacher_is_the_selected_one(seed):
    folder = ROOT / f"results/teachers/faithful_{seed}/teacher"
    config, table = read_json(folder / "config.json"), read_json(folder / "validation.json")
    assert (config["training"]["timeouts"], config["training"]["steps"]) == ("truncate", 1_000_000)
    sampled = [row for row in table["rows"] if row["mode"] == "sampled"]
    best = max(sampled, key=lambda row: (row["save_rate"], row["score"], -row["step"]))
    assert len(sampled) == 51 and best["step"] == table["winner"]["sampled"] and best["save_rate"] >= 0.98
    _, metadata = read_policy(ROOT / f"models/teachers/faithful_{seed}/teacher/teacher.safetensors")
    assert metadata["step"] == best["step"]
    labels = next(row for row in table["rows"] if (row["step"], row["mode"]) == (best["step"], "deterministic"))
    line = f"| {seed} | {best['step']:,} | {said(best)} | {said(labels)} |"
    assert line in (ROOT / "docs/teacher.md").read_text()


def test_what_the_population_took_is_what_the_page_says():
    took = read_json(ROOT / "results/teachers/faithful_population.json")
    rate = len(took["seeds"]) * took["updates"] / took["trained_s"]
    page = (ROOT / "docs/teacher.md").read_text()
    assert f"{took['updates']:,} updates each in {took['trained_s']:,.0f} s, {rate:.0f} updates/s in all" in page
    assert rate >= 450 and took["trained_s"] <= 25 * 60
