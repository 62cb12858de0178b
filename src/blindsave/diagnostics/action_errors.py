"""Action errors against the teacher, with visible and hidden steps apart.

They follow recorded episodes and recorded commands, as training does. Errors along what a policy does itself are those
of `learning.distil.shadow.action_error`.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.shadow import Array, shadow_labels
from blindsave.policies.students.student import Student
from blindsave.task.interface import ACTION_FLOATS, shown
from blindsave.task.outcomes import TIMEOUT_STEPS


class Follower:
    """A student that can be told what the last command was, as a teacher can."""

    def __init__(self, student: Student) -> None:
        self.student, self.name = student, student.name

    def initial(self, n: int) -> Array:
        """Fresh carries."""
        return self.student.initial(n)

    def step(self, carry: Array, observation: Array) -> tuple[Array, Array]:
        """The student's step."""
        return self.student.step(carry, observation)

    def with_previous_action(self, carry: Array, action: Array) -> Array:
        """The last floats of a recurrent student's carry are its previous action."""
        if not self.student.family.core.recurrent:
            return carry
        return np.concatenate([carry[:, :-ACTION_FLOATS], action], axis=1)


def padded(rows: Array, data: Episodes) -> Array:
    """Rows of episodes as (episodes, 125, width), zeros after each episode's end."""
    out = np.zeros((len(data), TIMEOUT_STEPS, rows.shape[1]), np.float32)
    out[np.arange(TIMEOUT_STEPS) < data.steps[:, None]] = rows
    return out


def forced_error(student: Student, data: Episodes, threads: int | None = None) -> dict[str, float | None]:
    """Errors of a student along recorded episodes."""
    given = (padded(data.obs, data), padded(data.action, data), data.steps)
    predicted = shadow_labels(Follower(student), *given, threads=threads)
    return split_error(predicted, padded(data.label, data), given[0], data.steps)


def split_error(actions: Array, labels: Array, obs: Array, steps: NDArray[np.integer]) -> dict[str, Any]:
    """Mean squared errors over all, visible and hidden steps, and with every episode counted equally."""
    valid = np.arange(actions.shape[1]) < steps[:, None]
    square = ((actions.astype(np.float64) - labels) ** 2).mean(axis=2)
    visible = shown(obs)
    hidden_count = int((valid & ~visible).sum())
    return {
        "equal_episode": float((np.where(valid, square, 0).sum(1) / np.maximum(steps, 1)).mean()),
        "all_steps": float(square[valid].mean()),
        "visible_steps": float(square[valid & visible].mean()),
        "hidden_steps": float(square[valid & ~visible].mean()) if hidden_count else None,
        "steps": int(valid.sum()),
        "hidden": hidden_count,
    }
