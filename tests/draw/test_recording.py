"""Recordings: what happened, in a form that pictures can be drawn from."""

import numpy as np
import pytest
from recordings import made_up

from blindsave.arena import constants as c
from blindsave.draw.recording import Recording, skeleton
from blindsave.errors import BadInput


def test_recordings_know_their_hidden_spans_and_slow_motion():
    recording = made_up()
    assert recording.hidden_spans == [(5, 15)]
    assert made_up(hidden=(5, 5)).hidden_spans == []
    np.testing.assert_allclose(recording.at(2.5), recording.qpos[2:4].mean(axis=0))
    np.testing.assert_array_equal(recording.at(30), recording.qpos[-1])
    np.testing.assert_allclose(recording.mallet[0], (-0.86, 0.0), atol=1e-6)
    assert np.isfinite(recording.shown).all()


def test_recordings_of_the_wrong_shape_are_refused():
    good = made_up()
    with pytest.raises(BadInput, match=r"\(T, 12\)"):
        Recording(good.qpos[:, :11], good.visible, good.seen)
    with pytest.raises(BadInput, match="one row per"):
        Recording(good.qpos, good.visible[:-1], good.seen)
    with pytest.raises(BadInput, match="target"):
        Recording(good.qpos, good.visible, good.seen, np.zeros((3, 2)))


def test_the_skeleton_ends_at_the_mallet():
    joints = skeleton(made_up().qpos[0])
    np.testing.assert_allclose(joints[0], c.ROBOT_BASE_M)
    np.testing.assert_allclose(joints[-1], (-0.86, 0, 0.0645), atol=1e-6)


def test_hidden_spans_reach_to_both_ends():
    everything = made_up(hidden=(0, 31))
    assert everything.hidden_spans == [(0, 31)]
    visible = np.array([False, True, False, False, True, False])
    recording = Recording(everything.qpos[:6], visible, np.zeros((6, 2)))
    assert recording.hidden_spans == [(0, 1), (2, 4), (5, 6)]


def test_the_shown_path_is_what_was_seen_and_the_truth_where_nothing_was():
    recording = made_up()
    noisy = np.where(recording.visible[:, None], recording.seen + 0.01, np.nan)
    told = Recording(recording.qpos, recording.visible, noisy)
    np.testing.assert_allclose(told.shown[2] - told.puck[2], 0.01)
    np.testing.assert_array_equal(told.shown[8], told.puck[8])


def test_beliefs_are_given_without_their_gaps():
    believed = np.full((31, 2), np.nan)
    believed[6:9] = [[1, 2], [3, 4], [5, 6]]
    recording = made_up(believed=believed)
    assert recording.beliefs(7).tolist() == [[1, 2], [3, 4]]
    assert recording.beliefs(3).shape == (0, 2) and made_up().beliefs(30).shape == (0, 2)


def test_beliefs_of_another_length_and_configurations_that_are_not_finite_are_refused():
    with pytest.raises(BadInput, match="beliefs"):
        made_up(believed=np.zeros((30, 2)))
    good = made_up()
    with pytest.raises(BadInput, match="finite qpos"):
        Recording(good.qpos * np.nan, good.visible, good.seen)
    with pytest.raises(BadInput, match="finite qpos"):
        Recording(good.qpos[:0], good.visible[:0], good.seen[:0])


def test_a_moment_after_the_end_is_the_end():
    recording = made_up()
    np.testing.assert_array_equal(recording.at(99.5), recording.qpos[-1])
    assert recording.time_s(5) == pytest.approx(0.1)
