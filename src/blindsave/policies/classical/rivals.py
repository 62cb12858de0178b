"""The rivals by name: a tracker before a planner, as one program; and the planner that is told the truth."""

import json
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from blindsave.arena.constants import MALLET_BOX_M, PUCK_BOX_M
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import Array
from blindsave.policies.base import OBSERVATION_FLOATS
from blindsave.policies.classical import planner as planners
from blindsave.policies.classical.bayes import Bayes, Kind
from blindsave.policies.classical.planner import Planner
from blindsave.policies.classical.signals import Signal, above, split
from blindsave.policies.classical.trackers import Differences, Kalman, LeastSquares, Tracker
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.trace import trace
from blindsave.task.interface import MALLET, PUCK, TRUTH_FLOATS, VISIBLE

RIVALS = ("differences", "least_squares", "kalman", "kalman_gated", "bayes")
"""The ladder, from the simplest to the best informed."""
PLANNER = "planner"
SETTINGS = "settings.json"
"""Beside this file: every number that was measured or tuned, and the record of how."""


@dataclass(frozen=True)
class Settings:
    """A planner and a tracker, complete."""

    planner: Planner
    tracker: Tracker | None
    """None where the truth is told."""


class Rival(ProgramPolicy):
    """A tracker before a planner. Carries what both remember; sees what every student sees."""

    def __init__(self, name: str, settings: Settings, path: str | None = None) -> None:
        tracker, planner = settings.tracker, settings.planner
        assert tracker is not None

        def step(ops: Any, carry: Signal, observation: Signal) -> tuple[Signal, Signal]:
            memory, arm = split(carry, tracker.memory, planners.MEMORY)
            seen = above(ops, observation[..., VISIBLE : VISIBLE + 1], 0.5)
            reading = _metres(observation[..., PUCK], PUCK_BOX_M)
            memory, place, velocity = tracker.track(ops, memory, reading, seen)
            arm, action = _act(ops, planner, arm, observation, place, velocity)
            return ops.concat(memory, arm), action

        program = trace(step, carry=tracker.memory + planners.MEMORY, observation=OBSERVATION_FLOATS)
        super().__init__(name, program, path)
        self.settings = settings

    @property
    def identity(self) -> dict[str, Any]:
        """Every number that decides what it does."""
        return {"settings": asdict(self.settings)}


class TruePlanner:
    """The planner behind a perfect tracker: what the arm could do if nothing were hidden. An upper bound."""

    name = PLANNER
    privileged = True

    def __init__(self, settings: Settings, path: str | None = None) -> None:
        def step(ops: Any, carry: Signal, observation: Signal) -> tuple[Signal, Signal]:
            _, place, velocity = split(observation, OBSERVATION_FLOATS, 2, 2)
            return _act(ops, settings.planner, carry, observation, place, velocity)

        program = trace(step, carry=planners.MEMORY, observation=OBSERVATION_FLOATS + TRUTH_FLOATS)
        self.told = ProgramPolicy(self.name, program, path)
        """The same as a policy over observation and truth in one row."""
        self.settings = settings

    @property
    def identity(self) -> dict[str, Any]:
        """Every number that decides what it does."""
        return {"settings": asdict(self.settings)}

    def initial(self, n: int) -> Array:
        """Fresh carries: an arm at rest."""
        return self.told.initial(n)

    def step(self, carry: Array, observation: Array, truth: Any = None) -> tuple[Array, Array]:
        """Rows of observations and true states (n, 4) to rows of actions."""
        if truth is None:
            raise BadInput(f"{self.name} has to be told the truth; the closed loop does so")
        return self.told.step(carry, np.concatenate([observation, truth], axis=1, dtype=np.float32))


def rival(name: str) -> Rival:
    """A rival of the ladder with its committed settings."""
    return Rival(name, settings(name))


differences, least_squares, kalman, kalman_gated, bayes = (partial(rival, name) for name in RIVALS)


def true_planner() -> TruePlanner:
    """The planner that is told the truth, with its committed settings."""
    return TruePlanner(settings(PLANNER))


def settings(name: str) -> Settings:
    """The committed settings of a rival or of the planner."""
    return settings_from(name, document()["settings"][name])


@cache
def document() -> dict[str, Any]:
    """The file of settings: `settings` by name, and `record`, which says how they came to be."""
    return json.loads((files("blindsave.policies.classical") / SETTINGS).read_text("utf-8"))


def settings_from(name: str, values: dict[str, Any]) -> Settings:
    """Settings from plain numbers: those of the planner under `planner`, the rest belongs to the tracker."""
    rest = {key: value for key, value in values.items() if key != "planner"}
    return Settings(Planner(**values["planner"]), None if name == PLANNER else _tracker(name, rest))


def _tracker(name: str, values: dict[str, Any]) -> Tracker:
    if name == "differences":
        return Differences()
    if name == "least_squares":
        return LeastSquares()
    if name in ("kalman", "kalman_gated"):
        return _kalman(values)
    if name == "bayes":
        kinds = tuple(Kind(**one) for one in values["kinds"])
        return Bayes(_kalman(values["kalman"]), kinds, tuple(values["noises"]))
    raise BadInput(f"there is no rival `{name}`; there are {', '.join(RIVALS)}")


def _kalman(values: dict[str, Any]) -> Kalman:
    return Kalman(**{**values, "speed": tuple(values["speed"])})


def _act(
    ops: Any, planner: Planner, arm: Signal, observation: Signal, place: Signal, velocity: Signal
) -> tuple[Signal, Signal]:
    """The planner's command as an action; the arm moves in metres, policies speak in shares of the mallet's box."""
    arm, command = planner.act(ops, arm, _metres(observation[..., MALLET], MALLET_BOX_M), place, velocity)
    low, high = MALLET_BOX_M
    action = (command - low.astype(np.float32)) * (2 / (high - low)).astype(np.float32) - 1.0
    return arm, ops.minimum(ops.maximum(action, -1.0), 1.0)


def _metres(normalised: Signal, box: np.ndarray) -> Signal:
    low, high = box
    return (normalised + 1.0) * ((high - low) / 2).astype(np.float32) + low.astype(np.float32)
