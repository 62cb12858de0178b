import pytest

from blindsave.task.audit import audit, families


@pytest.fixture(scope="module")
def figures():
    return audit()


def test_pucks_of_a_pair_almost_meet(figures):
    assert figures["max_last_visible_separation_mm"] == pytest.approx(8.10, abs=0.005)
    assert figures["max_first_hidden_separation_mm"] == pytest.approx(0.931, abs=0.001)


def test_first_hidden_observations_of_all_pairs_are_bit_identical(figures):
    assert figures["families"] == figures["identical_first_hidden_observations"] == 90
    assert figures["max_first_hidden_observation_difference"] == 0.0


def test_right_answers_differ(figures):
    assert figures["min_privileged_action_distance"] == pytest.approx(0.315, abs=0.0005)
    assert figures["min_target_separation_m"] >= 0.176
    assert figures["passed"]


@pytest.mark.parametrize("split", ["validation", "test", "principal_test", "noise_test"])
def test_other_splits_are_as_ambiguous(split):
    result = audit(split)
    assert result["identical_first_hidden_observations"] == 90
    assert result["passed"]


def test_families_are_left_then_right():
    for left, right in families("calibration"):
        assert left.alias_family == right.alias_family
        assert left.target_y < 0 < right.target_y
