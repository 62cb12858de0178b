"""The fault study as shipped: it verifies, its rows come out again, and its page says what its tables hold."""

import re
from pathlib import Path

import pytest
from page_tools import page_tool

from blindsave.evidence import tables
from blindsave.evidence.mrmc import strata_by
from blindsave.evidence.plan import load_plan
from blindsave.evidence.saves import saves
from blindsave.evidence.strata import noise
from blindsave.store import read_json
from blindsave.verify import verify
from blindsave.verify.replay import Replay

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "results" / "faults" / "faithful_7303"
PAGE = (ROOT / "docs" / "faults.md").read_text("utf-8")
KINDS = ("noise", "warp", "shift", "latency", "outliers", "bursts", "again", "puck_drag", "glitch", "ghost")


@pytest.fixture(scope="module")
def held():
    return saves(tables.read(STUDY / "noise" / "noise_test.parquet"))


def test_it_verifies_and_rows_come_out_again():
    found = verify(STUDY, replay=Replay(30, seed=1))
    assert found.failures == () and found.checked["rows_played_again"] == 30


def test_ten_kinds_of_fault_have_three_strengths_each(held):
    for kind in KINDS:
        assert sum(re.fullmatch(rf"{kind}_[0-9.]+(mm|percent)?", name) is not None for name in held.disturbances) == 3


def test_everybody_met_them_all(held):
    for family in ("structured_k0", "gru_n64", "finite_stack_10"):
        assert held.seeds[family] == held.seeds[f"{family}_naive"] == (14303, 14304, 14305, 14306, 14307)
    rivals = {"teacher", "differences", "least_squares", "kalman", "kalman_gated", "bayes", "planner"}
    assert rivals <= held.saved.keys() and len(held.shot_ids) == 225


def test_the_page_has_every_rate(held):
    pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")
    tool = page_tool("faults")
    assert tool.rates(held) in PAGE


def test_the_page_has_every_verdict(held):
    plan = load_plan(STUDY / "protocol.toml")
    assert plan.method == "mrmc" and plan.margin == 0.05 and len(plan.hypotheses) == 20
    found = strata_by(plan.method, noise(held, 50), held)
    for one in plan.hypotheses:
        c = found.difference("all", one.a, one.b, plan.blackout, one.disturbance, plan.margin)
        low, high = (c.equivalence.low, c.equivalence.high) if one.kind == "equivalence" else (c.low, c.high)
        line = next(line for line in PAGE.splitlines() if line.startswith(f"| {one.id}: "))
        assert f"{100 * c.estimate:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]" in line


def test_the_page_has_the_comparison_of_labels():
    for family, by_labels in read_json(ROOT / "results" / "faults" / "labels.json")["save_rates"].items():
        for labels, rates in by_labels.items():
            assert f"| `{family}`, {labels} | {' | '.join(f'{rate:.1f}' for rate in rates.values())} |" in PAGE
