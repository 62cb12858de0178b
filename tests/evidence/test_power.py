import numpy as np
import pytest
from synthetic_tables import SEEDS, random_saves, shot_rows, table

from blindsave.evidence.power import Components, components, power
from blindsave.evidence.saves import saves


def test_components_of_a_simulated_table_are_recovered():
    rng = np.random.default_rng(5)
    found = np.zeros(3)
    for _ in range(300):
        values = (
            0.3 * rng.standard_normal((6, 1)) + 0.2 * rng.standard_normal((1, 80)) + 0.5 * rng.standard_normal((6, 80))
        )
        parts = components(values)
        found += (parts.seed, parts.unit, parts.both)
    assert found / 300 == pytest.approx([0.09, 0.04, 0.25], rel=0.1)


def test_the_standard_error_is_that_of_the_sum_of_components():
    parts = Components(0.09, 0.04, 0.25, seeds=5, units=100, shots_per_unit=1.0)
    assert parts.standard_error(5, 100) == pytest.approx((0.09 / 5 + 0.04 / 100 + 0.25 / 500) ** 0.5)


def test_the_sizes_asked_for_are_just_enough():
    dense = random_saves({"a": 0.9, "b": 0.85})
    found = power(dense, "a", "b", 20, difference=0.05)
    parts, reach = found.components, 1.959964 + 0.841621
    assert found.resolvable_now == pytest.approx(reach * parts.standard_error(5, 135), rel=1e-5)
    assert found.shots_needed is not None
    units = found.shots_needed / parts.shots_per_unit
    assert reach * parts.standard_error(5, units) <= 0.05 * 1.0001
    assert reach * parts.standard_error(5, units - 2) > 0.05
    assert found.seeds_needed is not None
    assert reach * parts.standard_error(found.seeds_needed, 135) <= 0.05 * 1.0001
    assert found.seeds_needed == 1 or reach * parts.standard_error(found.seeds_needed - 1, 135) > 0.05
    assert found.to_dict()["components"]["seeds"] == 5


def test_what_more_shots_cannot_resolve_is_said():
    """All luck lies in the seeds: no number of shots helps, more seeds do."""
    luck = dict(zip(SEEDS, (0, 40, 80, 10, 60), strict=True))
    names = [shot.shot_id for shot in shot_rows(0, (100, 0, 0, 0))]
    dense = saves(
        table(
            {"a": SEEDS, "b": SEEDS},
            lambda p, seed, s, *_: p == "b" or names.index(s.shot_id) >= luck[seed],
            members=shot_rows(0, (100, 0, 0, 0)),
        )
    )
    found = power(dense, "a", "b", 20, difference=0.02)
    assert found.shots_needed is None
    assert power(dense, "a", "b", 20, difference=0.3).seeds_needed is not None


def test_two_single_policies_vary_by_unit_alone():
    parts = components(np.array([[0.0, 1.0, 0.0, 1.0]]))
    assert (parts.seed, parts.both) == (0.0, 0.0)
    assert parts.unit == pytest.approx(1 / 3)
