"""What a recorded episode would have shown without its faults: the same blackout, and the puck where it was.

A teacher that sees what a broken tracker says is misled by it, and students would learn to be misled in the same way.
In training the truth is known: the teacher may be shown what it would have seen, while the student sees the fault.
"""

import numpy as np
from numpy.typing import NDArray

from blindsave.task.interface import PUCK, VISIBLE, normalise_puck
from blindsave.task.tracking import BLACKOUT_START


def undisturbed(
    obs: NDArray[np.float32], truth: NDArray[np.float64], blackout: NDArray[np.integer]
) -> NDArray[np.float32]:
    """Observations (m, T, 19) with the puck from the `truth` (m, T, 4), hidden for `blackout` (m,) steps, no more."""
    step = np.arange(obs.shape[1]) - BLACKOUT_START
    visible = (step < 0) | (step >= blackout[:, None])
    seen = obs.copy()
    seen[..., PUCK] = np.where(visible[..., None], normalise_puck(truth[..., :2]), np.float32(0))
    seen[..., VISIBLE] = visible
    return seen
