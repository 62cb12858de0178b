"""Results of episodes: room for them, parts of them, and what they say."""

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults


def test_blank_results_have_touched_nothing_and_saved_nothing():
    blank = EpisodeResults.blank(3)
    assert len(blank) == 3
    assert blank.first_contact.tolist() == [-1, -1, -1]
    assert blank.labels == ["running"] * 3
    assert not blank.saved.any()
    assert blank.obs is blank.actions is blank.truth is None


def test_room_for_recordings_is_one_observation_longer_than_the_actions():
    blank = EpisodeResults.blank(2, record=True)
    assert blank.obs is not None and blank.actions is not None and blank.truth is not None
    assert blank.obs.shape == (2, 126, 19) and blank.truth.shape == (2, 126, 4)
    assert blank.actions.shape == (2, 125, 2)


def test_exactly_the_three_kinds_of_save_count_as_saves():
    every = EpisodeResults.blank(len(Outcome))
    every.outcome[:] = [int(outcome) for outcome in Outcome]
    assert {every.labels[i] for i in np.flatnonzero(every.saved)} == {"returned", "arrested", "safe_deflection"}


def test_writing_into_a_part_writes_into_the_whole():
    whole = EpisodeResults.blank(5, record=True)
    part = whole.part(slice(2, 4))
    part.outcome[:] = Outcome.RETURNED
    assert part.obs is not None and whole.obs is not None
    part.obs[0, 0, 18] = 1.0
    assert whole.saved.tolist() == [False, False, True, True, False]
    assert whole.visible[2, 0] and whole.visible.sum() == 1
    assert len(part) == 2


def test_a_part_of_results_without_recordings_has_none_either():
    assert EpisodeResults.blank(4).part(slice(0, 2)).obs is None


def test_visibility_of_unrecorded_episodes_is_refused():
    with pytest.raises(BadInput, match="only for recorded episodes"):
        _ = EpisodeResults.blank(1).visible


def test_an_unknown_outcome_code_has_no_label():
    results = EpisodeResults.blank(1)
    results.outcome[0] = 99
    with pytest.raises(ValueError, match="99"):
        _ = results.labels
