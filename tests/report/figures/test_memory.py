"""Figure 1c: with and without memory."""

from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words

from blindsave.report.analysis import Analysis, percent
from blindsave.report.figures.memory import draw_memory


def test_both_tests_are_drawn_seen_and_hidden_with_their_difference(analysis: Analysis):
    said = words(drawn(draw_memory(analysis), (4.5, 3.5)))
    assert "versus\nTeacher, state erased" in said and "versus\nMemoryless PPO" in said
    assert {"0 ms", "400 ms"} <= set(said) and "200 ms" not in said
    for members in analysis.memory.values():
        (at,) = (c for c in members if c.blackout == 20)
        assert percent(at, True).point in said


def test_another_endpoint_falls_back_to_the_longest_blackout_of_the_tests(analysis: Analysis):
    said = words(drawn(draw_memory(replace(analysis, endpoint=40)), (4.5, 3.5)))
    assert "400 ms" in said and "800 ms" not in said


def test_one_test_alone_is_drawn_alone(analysis: Analysis):
    alone = replace(analysis, **{name: {"ppo": getattr(analysis, name)["ppo"]} for name in ("memory", "memory_saves")})
    said = words(drawn(draw_memory(alone), (4.5, 3.5)))
    assert "versus\nMemoryless PPO" in said and "versus\nTeacher, state erased" not in said
