from pathlib import Path

import pytest

from blindsave.benchmark import references
from blindsave.benchmark.budget import STANDARD, TRIAL
from blindsave.errors import BadFile


def test_shipped_references_are_of_this_benchmark():
    found = {one["core"]: one for one in references.read(references.file(), STANDARD)}
    assert {"feed_forward", "finite_stack_10", "structured_k0", "planner"} <= found.keys()
    for one in found.values():
        assert len(one["horizon"]["alias_kept_out"]) == len(STANDARD.holds)


def test_what_the_references_show_about_memory():
    """The planner can, a linear memory does, and nobody does without a memory."""
    found = {one["core"]: one["horizon"]["alias_kept_out"] for one in references.read(references.file(), STANDARD)}
    assert min(point["rate"] for point in found["planner"]) >= 0.95
    assert found["structured_k0"][-1]["rate"] >= 0.9
    for point in (*found["feed_forward"][2:], *found["finite_stack_10"][2:]):
        assert point["rate"] <= 0.6


def test_figures_of_another_budget_are_refused(tmp_path):
    path = references.write(tmp_path / "r.json", TRIAL, [])
    assert references.read(path, TRIAL) == []
    with pytest.raises(BadFile, match="another benchmark: its `budget`"):
        references.read(path, STANDARD)


def test_a_core_replaces_its_former_figures():
    assert references.merged([{"core": "a", "x": 1}, {"core": "b"}], [{"core": "a", "x": 2}]) == [
        {"core": "a", "x": 2},
        {"core": "b"},
    ]


def test_the_table_of_the_documentation_is_that_of_the_references():
    page = (Path(__file__).parents[2] / "docs/remember.md").read_text("utf-8")
    for one in references.read(references.file(), STANDARD):
        kept = " | ".join(f"{100 * point['rate']:.1f}" for point in one["horizon"]["alias_kept_out"])
        assert any(line.startswith(f"| `{one['core']}` | ") and f" | {kept} | " in line for line in page.splitlines())
