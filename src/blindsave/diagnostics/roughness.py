"""How roughly a policy commands its arm: how much its requests change from step to step, and how much the change does.

A request is a mallet target in [-1, 1], 20 ms after the one before; figures are means of absolute values over both
coordinates. Requests that the lock kept from the arm do not count. A step belongs to the time after contact if the
observation it answers came after the first touch.
"""

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput
from blindsave.task.episode import LOCKED_STEPS
from blindsave.task.results import EpisodeResults

Roughness = dict[str, float | int | None]


def roughness(played: EpisodeResults) -> dict[str, Roughness]:
    """Roughness of recorded episodes over all steps, before and after contact, and with the puck visible and hidden."""
    if played.actions is None:
        raise BadInput("roughness is known only for recorded episodes")
    asked = np.clip(played.actions.astype(np.float64), -1.0, 1.0)
    step = np.arange(asked.shape[1])
    playing = (step < played.steps[:, None]) & (step >= LOCKED_STEPS)
    touched = (played.first_contact[:, None] >= 0) & (step >= played.first_contact[:, None])
    visible = played.visible[:, : len(step)]
    return {
        "all": _over(asked, playing, np.ones_like(playing)),
        "before_contact": _over(asked, playing, ~touched),
        "after_contact": _over(asked, playing, touched),
        "visible": _over(asked, playing, visible),
        "hidden": _over(asked, playing, ~visible),
    }


def _over(asked: NDArray[np.float64], playing: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> Roughness:
    """Means over the chosen steps; a difference counts where every request in it reached the arm."""
    changes, second = np.abs(np.diff(asked, axis=1)), np.abs(np.diff(asked, n=2, axis=1))
    one = (playing & chosen)[:, 1:] & playing[:, :-1]
    two = (playing & chosen)[:, 2:] & playing[:, 1:-1] & playing[:, :-2]
    return {
        "change": float(changes[one].mean()) if one.any() else None,
        "second_difference": float(second[two].mean()) if two.any() else None,
        "steps": int(one.sum()),
    }
