"""One table in the scene: what moves, what is marked, and what is hidden."""

import numpy as np
import pytest
from page import Scene

from blindsave.diagnostics.probe import Probe
from blindsave.play import poses
from blindsave.play.game import Conditions, Table
from blindsave.play.roster import Probed
from blindsave.play.stage import GHOST, LOST, SEEN, UNSEEN, Stage
from blindsave.policies import load
from blindsave.task.shots import find

SHOT = find("validation:alias:038:near_post_left")


@pytest.fixture
def stage() -> Stage:
    return Stage(Scene(), "/left")


def played(steps: int, probe: Probe | None = None) -> Table:
    policy = load("fixed_centre")
    table = Table(Probed("fixed_centre", 0, policy, "", probe=probe), Conditions(5, 20).episode(SHOT))
    for _ in range(steps):
        table.step()
    return table


def test_every_body_and_part_is_below_the_tables_own_node(stage):
    assert all(path.startswith("/left") for path in stage.scene.nodes)
    assert "/left" in stage.scene.nodes and stage.surface is not None and stage.puck
    for body in poses.bodies():
        assert f"/left{body.path}" in stage.scene.nodes


def test_two_tables_share_a_scene():
    scene = Scene()
    Stage(scene, "/left"), Stage(scene, "/right")  # a path added twice would be refused


def test_a_seen_puck_is_marked_and_a_hidden_one_is_a_ghost(stage):
    table = played(10)
    stage.show(table, 2, "", LOST)
    assert stage.seen.visible and not stage.veil.visible and not stage.lost.visible
    assert stage.seen.position[:2] == pytest.approx(tuple(table.frames[2].puck), abs=1e-6)
    stage.show(table, 8, "", LOST)
    assert not stage.seen.visible and stage.veil.visible and stage.lost.visible
    assert {node.opacity for node in stage.puck} == {GHOST}
    stage.show(table, 2, "", LOST)
    assert {node.opacity for node in stage.puck} == {None}


def test_the_puck_and_the_arm_are_where_the_frame_has_them(stage):
    table = played(20)
    stage.show(table, 15, "", LOST)
    assert stage.puck_frame.position[:2] == pytest.approx(tuple(table.frames[15].puck))
    for body, node in stage._turning:
        assert node.wxyz == poses.turned(body, table.frames[15].qpos)


def test_what_is_wanted_is_shown_once_the_arm_is_free(stage):
    table = played(10)
    stage.show(table, 2, "", LOST)
    assert not stage.wanted.visible
    stage.show(table, 9, "", LOST)
    assert stage.wanted.visible


def test_a_belief_is_shown_only_while_the_puck_is_hidden(stage):
    probe = Probe(np.zeros((2, 19), np.float32), np.array([100.0, -50.0], np.float32), "x", "", {})
    table = played(12, probe)
    stage.show(table, 8, "", LOST)
    assert stage.believed.visible and stage.believed.position[:2] == pytest.approx((0.1, -0.05))
    stage.show(table, 2, "", LOST)
    assert not stage.believed.visible


def test_the_trail_has_a_dot_per_observation_in_the_colour_of_what_was_seen(stage):
    table = played(12)
    stage.show(table, 9, "", LOST)
    assert len(stage.trail.points) == 10
    assert [tuple(c) for c in stage.trail.colors.tolist()] == [SEEN] * 5 + [UNSEEN] * 5
    stage.show(table, 10, "", LOST)
    assert len(stage.trail.points) == 10, "redrawn every third step only"
    stage.show(table, 12, "", LOST)
    assert len(stage.trail.points) == 13
    stage.show(table, 1, "", LOST)
    assert len(stage.trail.points) == 2, "going back redraws at once"


def test_an_outcome_lights_the_goal_until_it_is_taken_back(stage):
    table = played(3)
    stage.show(table, 3, "GOAL", LOST)
    assert stage.banner.visible and stage.light.visible and stage.light.color == LOST
    stage.show(table, 1, "", LOST)
    assert not stage.banner.visible and not stage.light.visible


def test_a_table_is_placed_named_and_taken_away(stage):
    stage.place(0.86, True)
    stage.set_title("Teacher")
    assert stage.base.position == (0.0, 0.86, 0.0) and stage.name.visible
    stage.set_title("")
    stage.place(0.0, False)
    assert not stage.name.visible and not stage.base.visible


def test_an_aim_is_an_arrow_above_the_table(stage):
    stage.show_aim((0.5, 0.1), (0.2, 0.0))
    assert stage.aim.visible
    np.testing.assert_allclose(stage.aim.points, [[[0.5, 0.1, 0.02], [0.2, 0.0, 0.02]]], atol=1e-7)
