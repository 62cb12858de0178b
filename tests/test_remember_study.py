"""The memory-horizon study as shipped: it verifies, its rows say what its page says, and the task keeps its bars."""

import json
from pathlib import Path

import pytest
from page_tools import page_tool

from blindsave.diagnostics import horizon
from blindsave.evidence import tables
from blindsave.evidence.plan import load_plan
from blindsave.verify import verify
from blindsave.verify.replay import Replay

REPOSITORY = Path(__file__).parents[1]
STUDY = REPOSITORY / "results" / "remember" / "horizon"
PAGE = (REPOSITORY / "docs" / "remember.md").read_text("utf-8")
TOOL = page_tool("remember")


@pytest.fixture(scope="module")
def found() -> dict:
    plan, rows = load_plan(STUDY / "protocol.toml"), tables.read(STUDY / "test" / "sealed_test.parquet")
    curves = horizon.curves(rows)
    return {"curves": curves, "verdicts": horizon.verdicts(plan, rows), "bars": horizon.bars(plan, curves)}


def test_it_verifies_and_rows_come_out_again():
    checked = verify(STUDY, replay=Replay(12))
    assert checked.ok and checked.released, checked.failures


def test_figures_and_pages_are_those_of_the_rows(found):
    assert json.loads((STUDY / "curves.json").read_text("utf-8")) == json.loads(json.dumps(found))
    assert TOOL.horizon_table(found["curves"]) in PAGE and TOOL.verdict_table(found) in PAGE
    assert TOOL.notebook_table() in PAGE


def test_the_task_and_the_families_meet_the_bars_of_the_plan(found):
    assert all(one["met"] for one in found["bars"].values()), found["bars"]


def test_every_hypothesis_was_decided_with_five_training_seeds(found):
    plan = load_plan(STUDY / "protocol.toml")
    assert [one["id"] for one in found["verdicts"]] == [one.id for one in plan.hypotheses]
    assert {one["training_seeds"] for one in found["curves"] if one["policy"] in plan.families} == {5}
