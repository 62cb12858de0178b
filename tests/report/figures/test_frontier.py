"""Save rate against cost."""

from dataclasses import replace

import numpy as np
import pytest

from blindsave.report.analysis import Analysis
from blindsave.report.costs import Costs
from blindsave.report.figures import frontier


def test_the_frontier_leaves_out_what_another_beats():
    points = {"cheap": (1.0, 40.0), "good": (2.0, 98.0), "worse": (3.0, 97.0), "best": (4.0, 99.0), "twin": (2.0, 90.0)}
    assert frontier.frontier(points) == [(1.0, 40.0), (2.0, 98.0), (4.0, 99.0)]


def test_the_stretched_scale_is_its_own_inverse():
    rates = np.array([0.0, 44.4, 98.3, 100.0])
    assert frontier.unstretch(frontier.stretch(rates)) == pytest.approx(rates)


def test_latency_is_drawn_only_where_it_was_measured(analysis: Analysis):
    test = analysis.main
    assert test is not None
    assert [panel.name for panel in frontier.cost(analysis, test).panels] == ["f4a", "f4b"]
    untimed = {name: replace(one, timings={}) for name, one in analysis.results.costs.families.items()}
    bare = replace(analysis, results=replace(analysis.results, costs=Costs(untimed)))
    assert [panel.name for panel in frontier.cost(bare, test).panels] == ["f4b"]
    nothing = replace(analysis, results=replace(analysis.results, costs=Costs({})))
    assert frontier.cost(nothing, test) is None


def test_seeds_stand_at_their_own_latency_or_are_spread_around_the_family(analysis: Analysis):
    rates = {"gru_n64": np.array([90.0, 91.0, 92.0, 93.0, 94.0])}
    timing = analysis.results.costs.families["gru_n64"].timing
    assert timing is not None
    own = frontier._seed_points(analysis, rates, {"gru_n64": 2.6}, latency=True)["gru_n64"]
    assert [x for x, _ in own] == list(timing.by_seed.values()) and [y for _, y in own] == rates["gru_n64"].tolist()
    spread = [x for x, _ in frontier._seed_points(analysis, rates, {"gru_n64": 28898}, latency=False)["gru_n64"]]
    assert len(set(spread)) == 5 and np.mean(spread) == pytest.approx(28898)


def test_the_stretched_scale_gives_the_last_points_more_room():
    places = frontier.stretch(np.array([50.0, 60.0, 89.0, 99.0]))
    assert np.all(np.diff(places) > 0)
    assert places[3] - places[2] > 5 * (places[1] - places[0])
    assert np.isfinite(frontier.stretch([100.0, 100.9])).all()


def test_equal_points_are_one_point_of_the_frontier():
    assert frontier.frontier({"a": (1.0, 90.0), "b": (1.0, 90.0)}) == [(1.0, 90.0)]
    assert frontier.frontier({}) == []
