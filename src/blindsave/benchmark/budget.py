"""How much a core may learn from in the benchmark, and what it is then asked."""

from dataclasses import asdict, dataclass, field
from typing import Any

from blindsave.learning.distil.config import Recipe
from blindsave.learning.remember.lessons import Lessons
from blindsave.task.remember import HOLDS

SEEDS = (14303, 14304)
RECIPE = Recipe(epochs=120, batch=16, learning_rate=5e-3, patience=120)


@dataclass(frozen=True)
class Budget:
    """Everything that decides a benchmark besides the core. The same for all cores, ours included."""

    base_episodes: int = 1000
    """Episodes of the teacher, in each of the two tasks."""
    own_episodes: int = 500
    """Episodes of the core's first students, labelled by the teacher, in each of the two tasks."""
    seeds: tuple[int, ...] = SEEDS
    recipe: Recipe = field(default_factory=lambda: RECIPE)
    split: str = "validation"
    every: int = 2
    """Only every so many-th unit of its shots: alias pairs and single shots."""
    blackouts: tuple[int, ...] = (0, 5, 10, 15, 20, 25)
    """Hidden control steps in the paper's task."""
    holds: tuple[int, ...] = HOLDS
    faults: tuple[str, ...] = (
        "noise_5mm", "latency_2", "dropped_10percent", "bursts_20percent", "stale", "frozen", "outliers_3percent",
    )  # fmt: skip
    """What the tracker does wrong beside a blackout of 400 ms."""
    fault_blackout: int = 20

    @property
    def lessons(self) -> Lessons:
        """How the memory task is learned."""
        return Lessons(self.base_episodes, self.own_episodes, 1, self.seeds, self.recipe)

    def describe(self) -> dict[str, Any]:
        """As plain values for JSON."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


STANDARD = Budget()
TRIAL = Budget(base_episodes=60, own_episodes=60, recipe=Recipe(epochs=2, batch=16, learning_rate=1e-3), every=15)
"""So little that it says nothing but that everything runs."""
