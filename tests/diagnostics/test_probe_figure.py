"""The picture of the probes."""

import pytest

pytest.importorskip("matplotlib")

from blindsave.diagnostics.probe_figure import PPO, draw, family_curves, style, write
from blindsave.draw.policy_looks import looks


def rows(*values, first=20):
    return [{"hidden_ms": first + 20 * i, "mean_mm": v, "lateral_mm": v / 2} for i, v in enumerate(values)]


def figures(*values):
    return {"by_time": rows(*values), "clock": {"by_time": rows(90.0, 95.0)}}


POLICIES = {"gru_n64/1": figures(10.0, 20.0, 30.0), "gru_n64/2": figures(30.0, 40.0), "ppo": figures(50.0, 60.0)}


def test_a_family_is_the_mean_of_its_seeds_over_the_times_they_share():
    found = family_curves(POLICIES, "mean_mm")
    assert found["gru_n64"] == ([20, 40], [20.0, 30.0])
    assert found["ppo"] == ([20, 40], [50.0, 60.0])


def test_ppo_does_not_look_like_the_feed_forward_student_here():
    drawn = looks(["ppo", "feed_forward"])
    assert style("ppo", drawn) == PPO != style("feed_forward", drawn)


def test_both_panels_show_the_clock_and_every_family():
    panels = draw(POLICIES).axes
    assert len(panels) == 2
    for axes, scale in zip(panels, (1.0, 0.5), strict=True):
        lines = {line.get_label(): line.get_ydata().tolist() for line in axes.lines}
        assert lines == {
            "clock alone": [90 * scale, 95 * scale],
            "GRU-64": [20 * scale, 30 * scale],
            "Memoryless PPO": [50 * scale, 60 * scale],
        }


def test_two_files_are_written(tmp_path):
    assert [path.name for path in write(POLICIES, tmp_path)] == ["probe.png", "probe.svg"]
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())
