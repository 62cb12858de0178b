"""What the world model believes about a hidden puck."""

import numpy as np
from dreamer_cases import random_params

from blindsave.diagnostics import openloop
from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.task.episode import grid
from blindsave.task.shots import shots

SIZES = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)


CONFIG = Config(SIZES)


def test_open_loop_beliefs_have_the_shape_of_the_hidden_flight():
    episodes = grid(shots("validation")[:2], (20,))
    predictions = openloop.predict(random_params(SIZES, 1), CONFIG, episodes, futures=16, steps=8)
    assert len(predictions) == 2
    for p in predictions:
        assert p.truth.shape == p.mean.shape == p.std.shape == (8, 2)
        assert ((p.share >= 0) & (p.share <= 1)).all()
        assert np.isfinite(p.error_mm[p.share > 0]).all()
        assert (np.diff(p.truth[:, 0]) < 0).all()  # the puck comes towards the robot
