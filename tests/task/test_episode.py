import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.episode import UNDISTURBED, Disturbance, Episode, grid
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout, noise_trace

SHOT = shots("validation")[0]


@pytest.mark.parametrize(
    ("disturbance", "name"),
    [
        (Disturbance(), "clean"),
        (Disturbance(noise_mm=1), "noise_1mm"),
        (Disturbance(noise_mm=2.5, correlation=0.9), "noise_2.5mm_correlation_0.9"),
        (Disturbance(bias_mm=(1, 0)), "bias_1_0mm"),
        (Disturbance(extra_blackouts=((30, 5),)), "hidden_30_35"),
        (Disturbance(puck_drag=1.5), "puck_drag_1.5"),
    ],
)
def test_disturbances_have_readable_names(disturbance, name):
    assert disturbance.name == name


def test_noise_without_blackout_equals_the_unit_trace():
    episode = Disturbance(noise_mm=5).episode(SHOT, 0)
    assert np.array_equal(episode.tracking.offset, noise_trace(SHOT.unit, 5).offset)


def test_undisturbed_episode_is_the_plain_blackout():
    episode = UNDISTURBED.episode(SHOT, 20)
    assert episode.tracking is blackout(20)
    assert (episode.locked_steps, episode.puck_drag) == (5, 1.0)


def test_all_faults_reach_the_episode():
    episode = Disturbance(noise_mm=1, bias_mm=(1, 1), extra_blackouts=((40, 3),), puck_drag=2).episode(SHOT, 10)
    assert np.flatnonzero(~episode.tracking.visible).tolist() == [*range(5, 15), 40, 41, 42]
    assert episode.tracking.offset is not None
    assert episode.puck_drag == 2


def test_grid_is_shot_major():
    episodes = grid(shots("validation")[:2], (0, 20))
    assert [(e.shot.id, int((~e.tracking.visible).sum())) for e in episodes] == [
        (shot.id, length) for shot in shots("validation")[:2] for length in (0, 20)
    ]


@pytest.mark.parametrize(
    "wrong", [{"locked_steps": -1}, {"locked_steps": 126}, {"puck_drag": -1.0}, {"puck_drag": float("nan")}]
)
def test_senseless_episodes_are_refused(wrong):
    with pytest.raises(BadInput):
        Episode(SHOT, **wrong)
