"""How puck and arm move, as far as a planner has to know: constants of the arena in closed form.

The puck glides with linear drag. The arm follows a command through the low pass of its controller and a first-order
lag; sideways this holds within about one per cent of the way for commands of 5 to 40 cm (docs/rivals.md).
"""

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import BUTTER_A, BUTTER_B, CONTROL_DT_S, PHYSICS_DT_S, SUBSTEPS

PUCK_DECAY_PER_SUBSTEP = 1 / 1.0005
"""The puck's speed after one millisecond of free flight, as a share of the one before: damping over mass."""
PUCK_DECAY = PUCK_DECAY_PER_SUBSTEP**SUBSTEPS
"""The same for one control step."""

LOW_PASS_STATES = len(BUTTER_B) - 1
Matrix = NDArray[np.float64]


def glide_s(steps: int | NDArray[np.int_]) -> NDArray[np.float64]:
    """How far the puck comes in so many control steps, in metres per m/s of its speed now."""
    decay = PUCK_DECAY_PER_SUBSTEP
    return PHYSICS_DT_S * decay * (1 - decay ** (SUBSTEPS * np.asarray(steps))) / (1 - decay)


GLIDE_S = float(glide_s(1))


def straight_s(steps: int) -> float:
    """The same without drag."""
    return steps * CONTROL_DT_S


def low_pass() -> tuple[Matrix, Matrix]:
    """One step of the controller's low pass: (5, 5) from its four states and the command to new states and output."""
    states, command = np.eye(LOW_PASS_STATES + 1)[:-1], np.eye(LOW_PASS_STATES + 1)[-1]
    output = BUTTER_B[0] * command + states[0]
    later = [*states[1:], np.zeros(LOW_PASS_STATES + 1)]
    rows = [BUTTER_B[i] * command - BUTTER_A[i] * output + later[i - 1] for i in range(1, LOW_PASS_STATES + 1)]
    return np.array(rows), output


def arm_responses(lag: float, steps: int) -> tuple[Matrix, NDArray[np.float64]]:
    """Where the arm will be after 1, 2, ... steps of a constant command, linear in what it is now.

    Returns (steps, 5), the part of the four filter states and of the present place, and (steps,), that of the command.
    """
    filter_rows, filter_output = low_pass()
    size = LOW_PASS_STATES + 2  # states, command, place
    advance = np.zeros((size, size))
    advance[:LOW_PASS_STATES, : LOW_PASS_STATES + 1] = filter_rows
    advance[LOW_PASS_STATES, LOW_PASS_STATES] = 1.0
    advance[-1, : LOW_PASS_STATES + 1] = lag * filter_output
    advance[-1, -1] = 1.0 - lag
    power, places = np.eye(size), []
    for _ in range(steps):
        power = advance @ power
        places.append(power[-1])
    rows = np.array(places)
    return np.delete(rows, LOW_PASS_STATES, axis=1), rows[:, LOW_PASS_STATES]
