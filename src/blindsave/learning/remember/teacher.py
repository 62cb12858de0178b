"""The teacher of the memory task: a rule that is told the truth, waits on its own line and then clears the puck.

Two things decide where it waits. Farther out the two lines of an alias pair are so near each other that a mallet in the
middle touches both shots: who does not know the side would keep them out by standing there. And what it asks for does
not change while the puck is on its way, so that nothing but the place has to be remembered.
"""

import numpy as np
from numpy.typing import NDArray

from blindsave.policies.scripted import Scripted
from blindsave.task.controllers import HOME_M
from blindsave.task.interface import normalise_mallet

APPROACHING = 0.15
"""Metres per second towards the goal above which a puck is waited for."""


def wait_and_clear(truth: NDArray[np.float64]) -> NDArray[np.float32]:
    """Where the puck will cross the home line, from its true x, y, vx, vy (robot frame); where it is, once it has come.

    A straight line: drag slows the puck but does not bend its path. Going to where the puck is pushes it away.
    """
    x, y, vx, vy = truth.T
    comes = (vx < -APPROACHING) & (x > HOME_M[0])
    time_s = np.where(comes, (HOME_M[0] - x) / np.where(comes, vx, -1.0), 0.0)
    return normalise_mallet(np.stack([np.where(comes, HOME_M[0], x), y + time_s * vy], axis=1))


TEACHER = Scripted("wait_and_clear", wait_and_clear, privileged=True)
