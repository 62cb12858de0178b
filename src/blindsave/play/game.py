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

from blindsave.arena.constants import CONTROL_DT_S, MALLET_BOX_M, PUCK_BOX_M, ROBOT_BASE_M
from blindsave.diagnostics.probe import features
from blindsave.draw.recording import PUCK
from blindsave.errors import BadInput
from blindsave.play.roster import Player
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START, OBSERVATIONS, blackout, compose, noise_trace

MOST_PLAYERS = 2
MOST_NOISE_MM = 50.0
SPEEDS = (0.05, 1.0)
SEEN_PUCK = slice(16, 18)


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
        length = min(self.blackout_steps, OBSERVATIONS - self.blackout_start)
        tracking = blackout(length, self.blackout_start)
        if self.noise_mm:
            tracking = compose(tracking, noise_trace(shot.unit, self.noise_mm))
        return Episode(shot, tracking)


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

    def __init__(self, player: Player, episode: Episode) -> None:
        self.player = player
        self._batch = DefendBatch(1, threads=1)
        self._batch.reset([episode])
        self._carry = player.policy.initial(1)
        self.outcome = Outcome.RUNNING
        self.first_contact = -1
        self.frames = [self._frame(None)]

    def step(self) -> None:
        """Simulate one control step; nothing happens after the end."""
        if self.outcome != Outcome.RUNNING:
            return
        batch, policy = self._batch, self.player.policy
        told = (batch.obs.copy(), batch.truth.copy()) if getattr(policy, "privileged", False) else (batch.obs.copy(),)
        self._carry, action = policy.step(self._carry, *told)
        # As everywhere: an action that is no number never reaches the robot, and the episode counts as a failure.
        finite = bool(np.isfinite(action).all())
        locked = bool(batch.locked[0])
        if not finite and not locked:
            self.outcome = Outcome.NON_FINITE_STATE
            return
        safe = np.where(np.isfinite(action), action, np.float32(0)).astype(np.float32)
        # What the memory holds now is what it knew at the observation just used: it belongs to the last frame.
        self.frames[-1] = replace(self.frames[-1], believed=self._believed())
        batch.step(safe)
        self.outcome = Outcome(int(batch.outcome[0]))
        self.first_contact = int(batch.first_contact[0])
        target = None if locked else on_table(np.clip(safe[0], -1, 1), MALLET_BOX_M)
        self.frames.append(self._frame(target))

    def _frame(self, target: NDArray[np.float64] | None) -> Frame:
        batch, visible = self._batch, bool(self._batch.visible[0])
        seen = on_table(batch.obs[0, SEEN_PUCK], PUCK_BOX_M) if visible else None
        return Frame(batch.qpos[0].copy(), visible, seen, target, None)

    def _believed(self) -> NDArray[np.float64] | None:
        """Where the memory has a puck it cannot see; only hidden pucks were ever fitted."""
        probe = self.player.probe
        if probe is None or self.frames[-1].visible:
            return None
        return probe.position_mm(features(self._carry, self._batch.obs))[0] / 1000.0

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

    def launch(self, shot: Shot, players: Sequence[Player], conditions: Conditions) -> None:
        """Start a new take."""
        if not 1 <= len(players) <= MOST_PLAYERS:
            raise BadInput(f"a shot is played by one or {MOST_PLAYERS} policies, got {len(players)}")
        episode = conditions.episode(shot)
        self.take = Take(shot, conditions, tuple(Table(player, episode) for player in players))
        self.moment, self.paused, self._counted = 0.0, False, False

    def again(self, players: Sequence[Player]) -> None:
        """The same shot under the same conditions, with other policies."""
        if self.take is None:
            raise BadInput("there is no shot to repeat yet")
        self.launch(self.take.shot, players, self.take.conditions)

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
                score = self.scores.get(table.player.name, Score())
                self.scores[table.player.name] = Score(score.saves + table.outcome.saved, score.shots + 1)


def on_table(normalised: NDArray[np.floating], box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised robot-frame position to the table frame, metres."""
    low, high = box
    return low + (normalised.astype(np.float64) + 1) / 2 * (high - low) + np.asarray(ROBOT_BASE_M[:2])
