"""The bench of evaluation: which policy, which grid, and ratios of what was timed."""

import pytest

from blindsave.bench import evaluation, sim
from blindsave.errors import BadInput


@pytest.fixture(autouse=True)
def quick_load(monkeypatch):
    class Quick:
        def __init__(self, n, threads):
            self.controlled = None

        def rate(self, work):
            return 1000.0

    monkeypatch.setattr(sim, "Load", Quick)


def test_the_cost_of_simulation_is_steps_over_rate():
    found = evaluation.bench_evaluate("fixed_centre", count=2, rounds=1, threads=1)
    assert found["policy"] == "fixed_centre" and found["episodes"] == 2 * len(evaluation.LENGTHS)
    assert found["simulation_s"] == pytest.approx(found["control_steps"] / 1000.0)
    assert found["times_simulation"] == pytest.approx(found["evaluation_s"] / found["simulation_s"])
    assert found["control_steps"] > found["episodes"]


def test_a_family_is_measured_untrained_and_anything_else_looked_up():
    assert evaluation._policy("structured_k0").name == "structured_k0/14303"
    assert evaluation._policy("teacher").name == "teacher"
    with pytest.raises(BadInput):
        evaluation._policy("nobody")
