"""How roughly a policy commands its arm, on made-up episodes whose roughness is known."""

import numpy as np
import pytest

from blindsave.diagnostics.roughness import roughness
from blindsave.errors import BadInput
from blindsave.task.interface import VISIBLE
from blindsave.task.results import EpisodeResults


def played(actions: np.ndarray, first_contact: int = -1, hidden: slice = slice(0, 0)) -> EpisodeResults:
    """One recorded episode with these actions."""
    one = EpisodeResults.blank(1, record=True)
    assert one.obs is not None and one.actions is not None
    one.steps[0], one.first_contact[0] = len(actions), first_contact
    one.actions[0, : len(actions)] = actions
    one.obs[0, :, VISIBLE] = 1.0
    one.obs[0, hidden, VISIBLE] = 0.0
    return one


def ramp(steps: int, slope: float = 0.01) -> np.ndarray:
    """Both coordinates rise by the same amount every step."""
    return np.repeat(slope * np.arange(steps)[:, None], 2, axis=1)


def test_an_even_ramp_changes_and_is_smooth():
    found = roughness(played(ramp(20)))["all"]
    assert found["change"] == pytest.approx(0.01) and found["second_difference"] == pytest.approx(0, abs=1e-7)
    assert found["steps"] == 14  # 15 requests reach the arm


def test_requests_that_the_lock_kept_from_the_arm_do_not_count():
    actions = ramp(20)
    actions[:5] = np.array([1.0, -1.0, 1.0, -1.0, 1.0])[:, None]
    assert roughness(played(actions))["all"] == roughness(played(ramp(20)))["all"]


def test_parts_of_an_episode_are_told_apart():
    actions = ramp(30)
    actions[20:, 0] += np.where(np.arange(10) % 2 == 0, 0.1, -0.1)  # it trembles after the touch
    found = roughness(played(actions, first_contact=20, hidden=slice(5, 15)))
    before, after, hidden = (found[name] for name in ("before_contact", "after_contact", "hidden"))
    assert before["steps"] == 14 and after["steps"] == 10 and hidden["steps"] == 9
    assert before["second_difference"] == pytest.approx(0, abs=1e-7)
    assert hidden["second_difference"] == pytest.approx(0, abs=1e-7)
    assert after["change"] == pytest.approx((0.1 + 0.01 + 0.01 + 9 * 0.2 + 9 * 0.01) / 20, rel=0.06)
    assert after["second_difference"] > 0.1


def test_a_part_that_never_was_has_no_roughness_and_clipping_hides_what_the_arm_cannot_follow():
    found = roughness(played(3 + ramp(20)))
    assert found["hidden"] == {"change": None, "second_difference": None, "steps": 0}
    assert found["after_contact"]["change"] is None
    assert found["all"]["change"] == 0.0  # all requests lie beyond the edge


def test_only_recorded_episodes_have_a_roughness():
    with pytest.raises(BadInput, match="recorded"):
        roughness(EpisodeResults.blank(3))
