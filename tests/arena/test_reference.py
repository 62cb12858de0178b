"""The plain-NumPy arena against recorded traces of the original stack. Few steps each: the reference is slow."""

from pathlib import Path

import numpy as np
import pytest

from blindsave.arena import constants as c
from blindsave.arena.reference import (
    ReferenceArena,
    is_absorbing,
    low_pass,
    normalise,
    safety_limit,
    skew,
    universal_angles,
)
from blindsave.errors import BadInput

GOLDEN = np.load(Path(__file__).parent.parent / "golden" / "arena.npz")
NAMES = GOLDEN["names"].tolist()
LAUNCH = np.array([[0.5, 0.1, 0.0, -1.5, -0.1, 0.0]])
TOLERANCE = {
    "policy_obs": 1e-9,
    "obs_raw": 1e-9,
    "puck_pos": 1e-9,
    "puck_vel": 1e-9,
    "mallet_pos": 1e-11,
    "u_pos": 1e-11,
    "cmd_pos": 1e-11,
    "cmd_vel": 1e-10,
}
# Enough control steps to reach what makes the scenario interesting.
STEPS = {
    "hold_default_shot_1p6_post": 80,
    "hold_fast_hit_4p0": 50,
    "corner_pp": 40,
    "sine_fast_limits": 50,
    "piecewise_seed102_fast_puck": 60,
    "away_end_bounce_1p5": 25,
    "post_hit_left_2p4": 45,
}


def assert_row_matches(arena: ReferenceArena, scenario: int, row: int) -> None:
    for key, tolerance in TOLERANCE.items():
        expected = GOLDEN[key][scenario, row]
        np.testing.assert_allclose(getattr(arena, key)[0], expected, rtol=0, atol=tolerance, err_msg=key)
    assert arena.contact[0] == GOLDEN["contact"][scenario, row]
    assert arena.absorbing[0] == GOLDEN["absorbing"][scenario, row]
    assert not arena.fault[0]


@pytest.mark.parametrize("name", STEPS)
def test_reference_reproduces_the_recorded_trace(name):
    scenario = NAMES.index(name)
    arena = ReferenceArena(1)
    arena.reset(GOLDEN["launch"][scenario : scenario + 1])
    assert_row_matches(arena, scenario, 0)
    for k in range(STEPS[name]):
        arena.step(GOLDEN["action"][scenario, k : k + 1])
        assert_row_matches(arena, scenario, k + 1)


def test_environments_do_not_touch_each_other():
    alone, crowd = ReferenceArena(1), ReferenceArena(3)
    crowd.reset([[0.2, -0.3, 0, -2.0, 0.3, 0]] * 3)
    crowd.step([[1.0, 1.0]] * 3)
    alone.reset(LAUNCH)
    crowd.reset(LAUNCH, ids=[1])
    for action in ([-0.5, 0.5], [-0.2, 0.1], [0.0, -0.4]):
        alone.step([action])
        crowd.step([action], ids=[1])
        crowd.step([[0.3, 0.3], [0.9, -0.9]], ids=[2, 0])
    assert np.array_equal(alone.obs_raw[0], crowd.obs_raw[1])
    assert np.array_equal(alone.cmd_pos[0], crowd.cmd_pos[1])


def test_snapshot_continues_bit_identically():
    arena = ReferenceArena(2)
    arena.reset([[-0.5, 0.0, 0, -1.5, 0.0, 0]] * 2)
    for _ in range(6):
        arena.step([[-0.85, 0.0]], ids=[0])
    arena.restore(1, arena.snapshot(0))
    assert np.array_equal(arena.policy_obs[0], arena.policy_obs[1])
    touched = False
    for _ in range(10):
        arena.step([[-0.8, 0.0]] * 2)
        touched |= bool(arena.contact[0])
    assert touched
    assert np.array_equal(arena.obs_raw[0], arena.obs_raw[1])


def test_free_flight_follows_the_drag_law_and_the_drag_factor_scales_it():
    arena = ReferenceArena(2)
    arena.reset(np.repeat(LAUNCH, 2, axis=0), puck_drag=[1.0, 3.0])
    arena.step([[-0.85, 0.0]] * 2)
    assert arena.puck_vel[0, 0] == pytest.approx(-1.5 / 1.0005**20, rel=1e-12)
    assert arena.puck_vel[1, 0] == pytest.approx(-1.5 * np.exp(-0.02 * 0.5 * 3), rel=1e-4)


def test_no_control_step_no_verdict():
    arena = ReferenceArena(1)
    arena.reset([[0.5, 0.3, 0, 1.5, 0.2, 0]])
    assert not arena.absorbing[0]
    arena.step([[-0.85, 0.0]])
    assert arena.absorbing[0]


@pytest.mark.parametrize(
    ("puck", "velocity", "over"),
    [
        ((0.1, 0.0, 0.0), (0.2, 0.0, 0.0), True),
        ((-0.1, 0.0, 0.0), (0.2, 0.0, 0.0), False),
        ((-0.1, 0.0, 0.0), (0.0, 0.0999, 0.0), True),
        ((-0.975, 0.0, 0.0), (-1.0, 0.0, 0.0), True),
        ((0.0, 0.52, 0.0), (-1.0, 0.0, 0.0), True),
        ((0.0, 0.0, 0.0), (-1.0, 0.0, 100.0), True),
        ((0.0, 0.0, 0.0), (-1.0, 0.0, 90.0), False),
    ],
)
def test_absorbing_rule(puck, velocity, over):
    assert is_absorbing(np.array(puck), np.array(velocity)) is over


def test_first_action_passes_the_filter_unchanged_and_a_step_converges():
    first, state = low_pass(np.array([0.3, -0.7], np.float32), None)
    np.testing.assert_allclose(first, [0.3, -0.7], atol=1e-7)
    for _ in range(200):
        last, state = low_pass(np.array([1.0, 0.0], np.float32), state)
    np.testing.assert_allclose(last, [1.0, 0.0], atol=1e-3)


def test_limiter_binds_only_near_the_joint_range():
    middle = np.zeros(7)
    q, dq = safety_limit(middle + 1e-4, np.full(7, 0.1), middle)
    assert np.array_equal(q, middle + 1e-4)
    assert np.array_equal(dq, np.full(7, 0.1))
    edge = c.JOINT_RANGE_RAD.copy()
    q, dq = safety_limit(edge + 0.1, np.ones(7), edge)
    np.testing.assert_allclose(q, edge)
    np.testing.assert_allclose(dq, 0, atol=1e-12)


def test_universal_angles_vanish_for_an_upright_rod_and_unwrap():
    upright = np.diag([1.0, -1.0, -1.0])
    np.testing.assert_allclose(universal_angles(upright, np.zeros(2)), 0, atol=1e-15)
    assert np.all(np.abs(universal_angles(upright, np.array([4.0, 4.0]))) <= c.UNIVERSAL_CLAMP_RAD)


def test_skew_is_the_cross_product():
    v, w = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 0.5, 4.0])
    np.testing.assert_allclose(skew(v) @ w, np.cross(v, w))


def test_boxes_normalise_to_one():
    np.testing.assert_allclose(normalise(c.PUCK_BOX_M[1], c.PUCK_BOX_M), 1.0)
    np.testing.assert_allclose(normalise(c.MALLET_BOX_M[0], c.MALLET_BOX_M), -1.0)


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda arena: arena.step([[0.0, 0.0, 0.0]]), r"shape \(1, 2\)"),
        (lambda arena: arena.step([[0.0, float("nan")]]), "finite"),
        (lambda arena: arena.reset([[0.0] * 5]), r"shape \(1, 6\)"),
        (lambda arena: ReferenceArena(0), "at least one"),
    ],
)
def test_bad_input_is_refused(call, fragment):
    arena = ReferenceArena(1)
    arena.reset(LAUNCH)
    before = arena.obs_raw.copy()
    with pytest.raises(BadInput, match=fragment):
        call(arena)
    assert np.array_equal(arena.obs_raw, before)
