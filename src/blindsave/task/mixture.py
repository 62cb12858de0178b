"""Conditions of training episodes: which, and how often each is drawn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave.errors import BadInput
from blindsave.task.conditions import CLEAN, Condition, condition
from blindsave.task.episode import Episode
from blindsave.task.shots import Shot

Shares = tuple[tuple[str, float], ...]
Conditions = str | Condition | Sequence[str | Condition] | Mapping[str, float]
"""How a mixture may be given."""


@dataclass(frozen=True)
class Mixture:
    """Conditions of training episodes and how often each is drawn."""

    conditions: tuple[Condition, ...] = (CLEAN,)
    shares: tuple[float, ...] = (1.0,)

    @classmethod
    def of(cls, what: "Conditions | Mixture") -> "Mixture":
        """From one condition, several of equal share, or a table of names and shares."""
        if isinstance(what, Mixture):
            return what
        if isinstance(what, str | Condition):
            return cls((condition(what),))
        table = what if isinstance(what, Mapping) else dict.fromkeys(what, 1.0)
        shares = [float(share) for share in table.values()]
        if not shares or min(shares) <= 0 or not math.isfinite(sum(shares)):
            raise BadInput(f"conditions need shares above zero, got {dict(table)}")
        made = tuple(condition(name) for name in table)
        if made == (CLEAN,):
            return cls()
        if len({one.name for one in made}) < len(made):
            raise BadInput("a mixture names a condition twice")
        # Exactly rounded, so that shares stay what they are when they are read again, in every version of Python.
        return cls(made, tuple(share / math.fsum(shares) for share in shares))

    @property
    def shares_by_name(self) -> Shares:
        """The mixture as plain data, as budgets and study files keep it; nothing where it is clean."""
        if self == CLEAN_MIXTURE:
            return ()
        return tuple((one.name, share) for one, share in zip(self.conditions, self.shares, strict=True))

    def describe(self) -> dict[str, Any]:
        """Everything that decides it, for manifests."""
        pairs = zip(self.conditions, self.shares, strict=True)
        return {one.name: {"share": share, "faults": one.describe()} for one, share in pairs}

    def draw(self, rng: Any, shot: Shot, blackout_steps: int) -> Episode:
        """The next episode. Nothing is drawn where there is nothing to choose, so clean training stays as it was."""
        chosen = self.conditions[0]
        if len(self.conditions) > 1:
            chosen = self.conditions[int(rng.choice(len(self.conditions), p=self.shares))]
        trace = str(int(rng.integers(0, 2**62))) if self != CLEAN_MIXTURE else None
        return chosen.episode(shot, blackout_steps, trace)


CLEAN_MIXTURE = Mixture()
