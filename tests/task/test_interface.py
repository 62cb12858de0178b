"""Frames and units of what a policy sees and asks for."""

import numpy as np
import pytest

from blindsave.task import interface
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout


@pytest.fixture(scope="module")
def fresh() -> DefendBatch:
    batch = DefendBatch(3, threads=1)
    batch.reset([Episode(shot) for shot in shots("calibration")[:3]])
    return batch


def test_the_observed_puck_is_the_true_one_in_the_robot_frame(fresh):
    np.testing.assert_allclose(interface.puck_m(fresh.obs[:, interface.PUCK]), fresh.truth[:, :2], atol=1e-6)
    launches = [[shot.x, shot.y] for shot in shots("calibration")[:3]]
    np.testing.assert_allclose(interface.to_table(fresh.truth[:, :2]), launches, atol=1e-12)


def test_the_mallet_starts_at_the_home_of_the_rod_end(fresh):
    mallet = interface.mallet_m(fresh.obs[:, interface.MALLET])
    np.testing.assert_allclose(mallet, np.tile([0.65, 0.0], (3, 1)), atol=2e-3)


def test_the_slices_divide_the_observation_without_gap_or_overlap():
    parts = (interface.JOINT_POSITIONS, interface.JOINT_VELOCITIES, interface.MALLET, interface.PUCK)
    places = [i for part in parts for i in range(*part.indices(interface.OBSERVATION_FLOATS))]
    assert [*places, interface.VISIBLE] == list(range(interface.OBSERVATION_FLOATS))
    assert list(range(*interface.MEASURED.indices(interface.OBSERVATION_FLOATS))) == places


def test_a_target_survives_the_way_to_an_action_and_back():
    wanted = np.array([[0.7, -0.3], [1.2, 0.45]])
    action = interface.normalise_mallet(wanted)
    assert action.dtype == np.float32
    np.testing.assert_allclose(interface.mallet_m(action), wanted, atol=1e-6)


def test_a_target_out_of_reach_becomes_the_nearest_edge():
    action = interface.normalise_mallet(np.array([[-5.0, 9.0], [5.0, -9.0]]))
    assert action.tolist() == [[-1.0, 1.0], [1.0, -1.0]]


def test_one_millimetre_in_normalised_units_is_one_millimetre_on_the_table():
    here = np.zeros(2)
    moved = interface.puck_m(here + interface.PUCK_PER_MM) - interface.puck_m(here)
    np.testing.assert_allclose(moved, 1e-3, rtol=1e-12)


def test_frames_differ_by_the_place_of_the_robot_and_invert_each_other():
    point = np.array([[0.3, -0.2]])
    np.testing.assert_allclose(interface.to_robot(point) - point, [[1.51, 0.0]])
    np.testing.assert_allclose(interface.to_table(interface.to_robot(point)), point, rtol=1e-12)


def test_a_hidden_puck_is_not_shown_and_reads_zero():
    batch = DefendBatch(1, threads=1)
    batch.reset([Episode(shots("calibration")[0], blackout(3, 0))])
    assert not interface.shown(batch.obs).any()
    assert not batch.obs[:, interface.PUCK].any()
