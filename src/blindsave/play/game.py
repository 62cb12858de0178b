"""The game, without a browser: launch a shot at one or two policies, watch, pause, step, slow down, replay.

A game shows a `Take`: one shot, played by each policy on its own table. Frames are simulated when the moment of display
reaches them and kept, so pausing, slow motion, stepping back and replaying all are the same thing: moving the moment.
Every take runs the batch that `blindsave evaluate` runs, so the same policy, shot and tracking end in the same outcome.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.diagnostics.probe import features
from blindsave.draw.recording import PUCK
from blindsave.errors import BadInput
from blindsave.play.roster import Probed
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.task.conditions import CLEAN_NAME, condition
from blindsave.task.episode import Episode
from blindsave.task.interface import PUCK as SEEN_PUCK
from blindsave.task.interface import mallet_m, puck_m, to_table
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START, OBSERVATIONS

MOST_POLICIES = 2
MOST_NOISE_MM = 50.0
SPEEDS = (0.05, 1.0)


@dataclass(frozen=True)
class Conditions:
    """What the tracker does to a shot."""

    blackout_start: int = BLACKOUT_START
    """First hidden observation."""
    blackout_steps: int = 20
    """How many observations are hidden."""
    noise_mm: float = 0.0
    """Standard deviation of the tracked position, per axis."""

    def __post_init__(self) -> None:
        if self.blackout_start < 0 or self.blackout_steps < 0 or self.blackout_start > OBSERVATIONS:
            raise BadInput("a blackout needs a start and a length of zero or more steps")
        if not (math.isfinite(self.noise_mm) and 0 <= self.noise_mm <= MOST_NOISE_MM):
            raise BadInput(f"noise must be between 0 and {MOST_NOISE_MM:g} mm")

    def episode(self, shot: Shot) -> Episode:
        """The shot under these conditions; a blackout that outlasts the episode is cut."""
        end = min(self.blackout_start + self.blackout_steps, OBSERVATIONS)
        faults = [f"hidden_{self.blackout_start}_{end}"] if end > self.blackout_start else []
        faults += [f"noise_{self.noise_mm:g}mm"] if self.noise_mm else []
        return condition("+".join(faults) or CLEAN_NAME).episode(shot)


@dataclass(frozen=True, eq=False)
class Frame:
    """One table at one observation; positions in the table frame, metres."""

    qpos: NDArray[np.float64]
    """Configuration: seven arm joints, two of the mallet, puck x, y, yaw."""
    visible: bool
    """Whether the policy was shown the puck."""
    seen: NDArray[np.float64] | None
    """Where it was told the puck is; None while hidden."""
    target: NDArray[np.float64] | None
    """Where it wants the mallet; None before its first step and while the mallet is locked."""
    believed: NDArray[np.float64] | None
    """Where its memory says the hidden puck is, by the linear probe; None while seen and without a probe."""

    @property
    def puck(self) -> NDArray[np.float64]:
        """Where the puck is."""
        return self.qpos[PUCK]


class Table:
    """One policy playing one episode, one control step at a time; remembers every frame."""

    def __init__(self, policy: Probed, episode: Episode) -> None:
        self.policy = policy
        self._loop = ClosedLoop(policy.policy, [episode], threads=1)
        self._batch = self._loop.batch
        self.frames = [self._frame(None)]

    @property
    def outcome(self) -> Outcome:
        """How the episode has ended; RUNNING before that."""
        return Outcome(int(self._batch.outcome[0]))

    @property
    def first_contact(self) -> int:
        """The step of the first touch; -1 if there was none yet."""
        return int(self._batch.first_contact[0])

    def step(self) -> None:
        """Simulate one control step; nothing happens after the end."""
        if self.outcome != Outcome.RUNNING:
            return
        action, locked, before = self._loop.ask(), bool(self._batch.locked[0]), int(self._batch.steps[0])
        believed = self._believed()
        self._loop.act(action)
        if self._batch.steps[0] == before:  # the action was no number, and nothing has moved
            return
        # What the memory held was what it knew at the observation just used: it belongs to the last frame.
        self.frames[-1] = replace(self.frames[-1], believed=believed)
        target = None if locked else to_table(mallet_m(np.clip(action[0], -1, 1)))
        self.frames.append(self._frame(target))

    def _frame(self, target: NDArray[np.float64] | None) -> Frame:
        batch, visible = self._batch, bool(self._batch.visible[0])
        seen = to_table(puck_m(batch.obs[0, SEEN_PUCK])) if visible else None
        return Frame(batch.qpos[0].copy(), visible, seen, target, None)

    def _believed(self) -> NDArray[np.float64] | None:
        """Where the memory has a puck it cannot see; only hidden pucks were ever fitted."""
        probe = self.policy.probe
        if probe is None or self.frames[-1].visible:
            return None
        return probe.position_mm(features(self._loop.carry, self._batch.obs))[0] / 1000.0

    @property
    def last(self) -> int:
        """Number of the newest frame."""
        return len(self.frames) - 1

    def at(self, moment: float) -> Frame:
        """The frame at a possibly fractional step; the last one after the end."""
        before = min(int(moment), self.last)
        frame, after = self.frames[before], self.frames[min(before + 1, self.last)]
        share = moment - before
        if share <= 0 or before == self.last:
            return frame
        return replace(frame, qpos=frame.qpos + share * (after.qpos - frame.qpos))


@dataclass(frozen=True, eq=False)
class Take:
    """One shot under its conditions, on one table per policy."""

    shot: Shot
    conditions: Conditions
    tables: tuple[Table, ...]

    @property
    def ended(self) -> bool:
        """Whether every table has its outcome."""
        return all(table.outcome != Outcome.RUNNING for table in self.tables)

    @property
    def last(self) -> int:
        """Number of the newest frame of any table."""
        return max(table.last for table in self.tables)


@dataclass(frozen=True)
class Score:
    """How often a policy has saved in this game."""

    saves: int = 0
    shots: int = 0


class Game:
    """What one visitor plays."""

    def __init__(self) -> None:
        self.take: Take | None = None
        self.moment = 0.0
        """Displayed control step, fractional in slow motion."""
        self.paused = False
        self.speed = 1.0
        self.scores: dict[str, Score] = {}
        self._counted = True

    def launch(self, shot: Shot, policies: Sequence[Probed], conditions: Conditions) -> None:
        """Start a new take."""
        if not 1 <= len(policies) <= MOST_POLICIES:
            raise BadInput(f"a shot is played by one or {MOST_POLICIES} policies, got {len(policies)}")
        episode = conditions.episode(shot)
        self.take = Take(shot, conditions, tuple(Table(one, episode) for one in policies))
        self.moment, self.paused, self._counted = 0.0, False, False

    def again(self, policies: Sequence[Probed]) -> None:
        """The same shot under the same conditions, with other policies."""
        if self.take is None:
            raise BadInput("there is no shot to repeat yet")
        self.launch(self.take.shot, policies, self.take.conditions)

    def replay(self) -> None:
        """Show the last shot from its start; scores do not change."""
        self.moment, self.paused = 0.0, False

    def set_speed(self, speed: float) -> None:
        """Choose how fast time passes: 1 is real time."""
        if not (math.isfinite(speed) and SPEEDS[0] <= speed <= SPEEDS[1]):
            raise BadInput(f"speed must be between {SPEEDS[0]:g} and {SPEEDS[1]:g}")
        self.speed = speed

    def step(self, steps: int = 1) -> None:
        """Pause, and move by whole control steps, forwards or backwards."""
        self.paused = True
        self._show(math.floor(self.moment) + steps)

    def tick(self, elapsed_s: float = CONTROL_DT_S) -> bool:
        """Let time pass; returns whether the picture changed."""
        if self.take is None or self.paused or self.finished:
            return False
        self._show(self.moment + self.speed * elapsed_s / CONTROL_DT_S)
        return True

    @property
    def finished(self) -> bool:
        """Whether the take is over and its end is on display."""
        return self.take is not None and self.take.ended and self.moment >= self.take.last

    def outcome(self, table: int) -> Outcome:
        """How a table's episode has ended at the displayed moment; RUNNING before that."""
        shown = self.take.tables[table] if self.take else None
        return shown.outcome if shown and self.moment >= shown.last else Outcome.RUNNING

    def _show(self, moment: float) -> None:
        """Move to a moment, simulating what has not been yet."""
        take = self.take
        if take is None:
            return
        moment = max(0.0, moment)
        # Rounding: fifty steps of a fiftieth must reach the fiftieth frame.
        while not take.ended and take.last < math.floor(moment + 1e-9) + 1:
            for table in take.tables:
                table.step()
        self.moment = min(moment, float(take.last))
        if self.finished and not self._counted:
            self._counted = True
            for table in take.tables:
                score = self.scores.get(table.policy.name, Score())
                self.scores[table.policy.name] = Score(score.saves + table.outcome.saved, score.shots + 1)
