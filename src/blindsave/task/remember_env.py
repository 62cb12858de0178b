"""The memory task as Gymnasium environments: `gymnasium.make("blindsave/Remember-v0", hold=20)`.

`hold` is the dial: for how many control steps (20 ms each) the arm is held after the puck disappeared: a number, a
range (both ends included, equal shares; the default is the whole dial) or a table of numbers and shares.
"""

import operator
from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.errors import BadInput
from blindsave.task.env import DefendEnv
from blindsave.task.mixture import Mixture
from blindsave.task.remember import HOLDS, KIND
from blindsave.task.vector import DefendVectorEnv

Hold = int | tuple[int, int] | Mapping[int, float]
WHOLE_DIAL: Hold = (HOLDS[0], HOLDS[-1])


def remember(hold: Hold = WHOLE_DIAL, split: str = "train", **options: Any) -> DefendEnv:
    """One environment; other options are those of `DefendEnv`."""
    return DefendEnv(split, 0, _mixture(hold), **options)  # pyright: ignore[reportArgumentType]


def remember_vector(
    num_envs: int = 1, hold: Hold = WHOLE_DIAL, split: str = "train", **options: Any
) -> DefendVectorEnv:
    """Many environments; other options are those of `DefendVectorEnv`."""
    return DefendVectorEnv(num_envs, split, 0, _mixture(hold), **options)  # pyright: ignore[reportArgumentType]


def _mixture(hold: Hold) -> Mixture:
    if isinstance(hold, Mapping):
        return Mixture.of({f"{KIND}_{steps}": share for steps, share in hold.items()})
    if isinstance(hold, Sequence):
        if len(hold) != 2 or hold[0] > hold[1]:
            raise BadInput(f"a range of holds is (shortest, longest), got {hold}")
        return Mixture.of([f"{KIND}_{steps}" for steps in range(hold[0], hold[1] + 1)])
    try:
        return Mixture.of(f"{KIND}_{operator.index(hold)}")
    except TypeError:
        raise BadInput(f"a hold is a whole number of control steps, got {hold!r}") from None
