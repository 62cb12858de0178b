"""When to learn: the train ratio as exact integer arithmetic, and when to do something every so many steps."""

from __future__ import annotations

from dataclasses import dataclass

from blindsave.learning.dreamer.config import Config


@dataclass
class TrainRatio:
    """How many updates are due, given the environment steps taken (reset observations included).

    `ratio` replayed steps per environment step, with batches of `batch_steps`. Learning starts with one update at
    the first moment when the replay holds `batch_steps` windows; nothing is caught up on. From there on
    floor((step - start) * ratio / batch_steps) further updates are due.
    """

    ratio: int
    batch_steps: int
    start: int = -1
    done: int = 0

    @staticmethod
    def of(config: Config) -> TrainRatio:
        """Return the schedule of a configuration, before any step."""
        return TrainRatio(config.training.train_ratio, config.learning.batch * config.learning.length)

    def due(self, step: int, windows: int) -> int:
        """Return how many updates to make now, and count them as made."""
        if self.start < 0:
            if windows < self.batch_steps:
                return 0
            self.start = step
        wanted = 1 + (step - self.start) * self.ratio // self.batch_steps
        now, self.done = wanted - self.done, wanted
        return now


@dataclass
class Every:
    """Is true once at each multiple of `interval`, at the first step that reaches it."""

    interval: int
    reached: int = -1

    def __call__(self, step: int) -> bool:
        """Report whether a new multiple was reached since the last call; step 0 counts."""
        index = step // self.interval
        if index <= self.reached:
            return False
        self.reached = index
        return True
