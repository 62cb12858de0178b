import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.conditions import condition
from blindsave.task.episode import Episode, records
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout

SHOT = shots("validation")[0]


def test_records_hold_what_the_core_needs_of_every_episode():
    episodes = [Episode(SHOT, blackout(3)), condition("latency_2+puck_drag_2+hold_3").episode(SHOT, 0)]
    found = records(episodes)
    assert found["drag"].tolist() == [1, 2]
    assert found["locked_steps"].tolist() == [5, 8]
    assert np.flatnonzero(~found["visible"][0]).tolist() == [5, 6, 7]
    assert found["source"][1, :5].tolist() == [0, 0, 0, 1, 2]


@pytest.mark.parametrize(
    "wrong", [{"locked_steps": -1}, {"locked_steps": 126}, {"puck_drag": -1.0}, {"puck_drag": float("nan")}]
)
def test_senseless_episodes_are_refused(wrong):
    with pytest.raises(BadInput):
        Episode(SHOT, **wrong)
