"""Which episode comes next in training: a shot of the split and a blackout length, drawn in that order."""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.task.episode import Episode
from blindsave.task.mixture import CLEAN_MIXTURE, Mixture
from blindsave.task.shots import Shot, custom, find, shots
from blindsave.task.tracking import blackout as check_blackout

Blackout = int | tuple[int, int] | Mapping[int, float]
UNIFORM: Blackout = (0, 20)
OPTIONS = ("shot", "blackout")


@dataclass(frozen=True)
class Sampler:
    """Draws episodes of a split.

    `blackout` is a fixed number of steps, a range (both ends included) or a table of lengths and probabilities.
    Every draw takes one shot index and one length from the generator, in this order, whatever is overridden; where
    `conditions` are not clean, then which one it is and a number of its own for what chance does to it.
    """

    split: str = "train"
    blackout: Blackout = UNIFORM
    conditions: Mixture = CLEAN_MIXTURE

    def __post_init__(self) -> None:
        shots(self.split)
        if isinstance(self.blackout, Mapping):
            lengths, weights = list(self.blackout), list(self.blackout.values())
            if not lengths or min(weights) < 0 or not math.isclose(sum(weights), 1.0):
                raise BadInput(f"blackout probabilities must be positive and sum to 1, got {dict(self.blackout)}")
        elif isinstance(self.blackout, Sequence):
            if len(self.blackout) != 2 or self.blackout[0] > self.blackout[1]:
                raise BadInput(f"a blackout range is (shortest, longest), got {self.blackout}")
            lengths = list(self.blackout)
        else:
            lengths = [self.blackout]
        for length in lengths:
            check_blackout(_whole(length))

    def draw(self, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> Episode:
        """Draw the next episode; options may name the shot (id or launch) and the blackout length."""
        options = options or {}
        unknown = sorted(set(options) - set(OPTIONS))
        if unknown:
            raise BadInput(f"there is no reset option '{unknown[0]}'; there are {', '.join(OPTIONS)}")
        members = shots(self.split)
        shot = members[int(rng.integers(0, len(members)))]
        length = self._draw_length(rng)
        if options.get("shot") is not None:
            shot = chosen_shot(options["shot"])
        if options.get("blackout") is not None:
            length = _whole(options["blackout"])
        return self.conditions.draw(rng, shot, length)

    def _draw_length(self, rng: np.random.Generator) -> int:
        if isinstance(self.blackout, Mapping):
            return int(rng.choice(list(self.blackout), p=list(self.blackout.values())))
        if isinstance(self.blackout, Sequence):
            shortest, longest = self.blackout
            return int(rng.integers(shortest, longest + 1))
        rng.integers(0, 21)  # drawn and dropped, so that a fixed length leaves the sequence of shots as it was
        return int(self.blackout)


def chosen_shot(choice: str | Shot | Sequence[float]) -> Shot:
    """Return a shot from its id, or make one from a launch x, y, vx, vy in the table frame."""
    if isinstance(choice, Shot):
        return choice
    return find(choice) if isinstance(choice, str) else custom(choice)


def _whole(length: Any) -> int:
    try:
        return operator.index(length)
    except TypeError:
        raise BadInput(f"a blackout is a whole number of steps, got {length!r}") from None
