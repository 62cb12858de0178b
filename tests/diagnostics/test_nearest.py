"""How far histories are from the training histories."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from blindsave.diagnostics.nearest import Reference, describe, histories, nearest_history
from blindsave.errors import BadInput
from blindsave.testing.training import random_episodes


def test_a_history_is_the_last_five_steps_right_aligned_with_flags():
    data = random_episodes([7, 3])
    features = histories(data)
    assert features.shape == (10, 110)
    now = np.concatenate([data.obs, data.previous], axis=1)
    np.testing.assert_array_equal(features[6, :105].reshape(5, 21), now[2:7])
    np.testing.assert_array_equal(features[6, 105:], np.ones(5))
    second = features[8]  # step 1 of the second episode: nothing of the first one is in it
    assert not second[: 3 * 21].any()
    np.testing.assert_array_equal(second[63:105].reshape(2, 21), now[7:9])
    np.testing.assert_array_equal(second[105:], [0, 0, 0, 1, 1])


def test_nearest_distances_are_those_of_a_search_tree():
    train, query = random_episodes([9] * 8), random_episodes([6] * 4, seed=1)
    reference = Reference.of(train)
    distances, variances = reference.nearest(query)
    standard = (histories(query)[:, reference.kept] - reference.mean[reference.kept]) / reference.deviation[
        reference.kept
    ]
    expected, near = cKDTree(reference.points).query(standard, k=16)
    np.testing.assert_allclose(distances, expected[:, 0], rtol=1e-9)
    np.testing.assert_allclose(variances, train.label.astype(float)[near].var(axis=1).mean(axis=1), rtol=1e-9)


def test_histories_seen_in_training_are_at_distance_zero():
    data = random_episodes([8] * 20)
    distances, _ = Reference.of(data).nearest(data)
    assert distances.max() < 1e-6


def test_a_student_that_strays_is_far_from_the_training_histories():
    base = random_episodes([10] * 40)
    base.obs[:] *= 0.01
    stray = random_episodes([10] * 5, seed=2)
    result = nearest_history(base, stray)
    assert result["p95_ratio"] > 10


def test_columns_that_never_vary_do_not_count():
    data = random_episodes([6] * 4)
    data.obs[:, 3] = 0.0  # equal to what stands before an episode's start
    reference = Reference.of(data)
    assert (~reference.kept).sum() >= 5
    stray = random_episodes([6] * 4)
    stray.obs[:, 3] = 1e9
    assert reference.nearest(stray)[0].max() < 1e-6


def test_distances_are_described_by_mean_and_upper_end():
    found = describe(np.arange(101.0), np.full(101, 0.5))
    assert found == {"mean": 50.0, "p95": 95.0, "label_variance": 0.5}
    assert describe(np.zeros(0), np.zeros(0)) is None


def test_without_clear_training_episodes_there_is_nothing_to_compare_with():
    base = random_episodes([3] * 20)
    base.blackout[:] = 5
    with pytest.raises(BadInput, match="no training episodes"):
        nearest_history(base, base)


def test_a_student_without_clear_episodes_has_no_ratio():
    student = random_episodes([3] * 5, seed=1)
    student.blackout[:] = 5
    found = nearest_history(random_episodes([5] * 20), student)
    assert found["student"] is None and found["p95_ratio"] is None and found["teacher"] is not None
