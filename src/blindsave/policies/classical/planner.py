"""Go where puck and mallet can meet in time.

Every control step the planner looks at the puck's predicted place 1, 2, ... 64 steps ahead. For each it asks which
constant command would bring the mallet there just then, given how far the arm's filter has come, and prefers the
meeting nearest to a line before the goal among those that the arm can keep. A command may point beyond the meeting
place: the arm is slow, and only a far target makes it move at once.

The arm's filter cannot be seen, so it is carried along. When the arm should have moved and did not (it is held), the
filter is set to rest again.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.arena.constants import BUTTER_STEADY, CONTROL_DT_S, MALLET_BOX_M
from blindsave.policies.classical import motion
from blindsave.policies.classical.signals import Signal, above, best, choose, clamp, combine, magnitude, split, total

HORIZON = 64
"""Control steps that are looked ahead: 1.28 s."""
MEMORY = motion.LOW_PASS_STATES + 2
"""Floats carried: the sideways filter, where the mallet was, and where it should be now."""
UNREACHABLE = 20.0
"""Cost of a metre that the arm cannot make, in metres of distance from the wanted line."""


@dataclass(frozen=True)
class Planner:
    """What a planner prefers; lengths in metres, robot frame. Tuned by `blindsave rivals tune`."""

    line: float
    """Where before the goal to meet the puck, if there is time."""
    lag: float
    """Share of the way to the filtered command that the arm makes in a control step; measured."""
    caution: float
    """Share of the way below which a meeting place is no longer forced: larger commands less far beyond it."""
    slack: float
    """Metres of the way towards or away from the goal that need not be made in time: the puck comes by itself."""
    nearest: float
    """Closest meeting to the goal."""
    hurry: float
    """A puck slower than this (m/s) may never come to the line: it is met as early as the arm can."""
    approach: float = 0.05
    """Metres per second towards the goal above which a puck is met, not just followed."""
    still: float = 2e-4
    """Metres that the arm should have made before one can say that it is held."""

    def act(
        self, ops: Any, memory: Signal, mallet: Signal, position: Signal, velocity: Signal
    ) -> tuple[Signal, Signal]:
        """New memory and the command, both in metres, from the mallet's place and the puck's state."""
        here_x, here_y = split(mallet, 1, 1)
        x, y, vx, vy = *split(position, 1, 1), *split(velocity, 1, 1)
        states = self._filter(ops, memory, here_y)
        glide = motion.glide_s(np.arange(1, HORIZON + 1))
        ahead = np.stack([np.ones(HORIZON), glide], axis=1)
        place_x, place_y = combine(ops, (x, vx), ahead), combine(ops, (y, vy), ahead)
        command_y, missing = self._commands(ops, states, here_y, place_y)
        way = place_x - combine(ops, (here_x,), np.ones((HORIZON, 1)))
        too_far = ops.maximum(magnitude(ops, way) * self._left() - self.slack, 0.0)
        too_late = ops.maximum(self.nearest - place_x, 0.0)
        waiting = (self.hurry * CONTROL_DT_S * np.arange(1, HORIZON + 1)).astype(np.float32)
        cost = (magnitude(ops, place_x - self.line) + waiting) + UNREACHABLE * ((missing + too_far) + too_late)
        meeting = best(ops, cost, HORIZON)
        comes = above(ops, -vx, self.approach)
        target_x = choose(ops, comes, total(ops, meeting * place_x, HORIZON), self.line)
        target_y = choose(ops, comes, total(ops, meeting * command_y, HORIZON), y)
        low, high = MALLET_BOX_M.astype(np.float32)
        command = clamp(ops, ops.concat(target_x, target_y), low, high)
        return self._expect(ops, states, here_y, command[..., 1:2]), command

    def _commands(self, ops: Any, states: Signal, here: Signal, place: Signal) -> tuple[Signal, Signal]:
        """For every meeting: the sideways command that keeps it, and by how many metres the largest one falls short."""
        own, share = motion.arm_responses(self.lag, HORIZON)
        free = combine(ops, (states, here), own)
        gain = (share / (share**2 + self.caution**2)).astype(np.float32)
        command = place + (place * (1 - share).astype(np.float32) - free) * gain
        beyond = ops.maximum(magnitude(ops, command) - MALLET_BOX_M[1, 1], 0.0)
        return command, beyond * share.astype(np.float32)

    def _left(self) -> np.ndarray:
        """The share of a way that the arm has not made after 1, 2, ... steps, when just told to go there."""
        _, share = motion.arm_responses(self.lag, HORIZON)
        return np.maximum(1 - share, 0.0).astype(np.float32)

    def _filter(self, ops: Any, memory: Signal, here: Signal) -> Signal:
        """The carried filter, or one at rest where the arm did not follow it."""
        states, before, expected = split(memory, motion.LOW_PASS_STATES, 1, 1)
        wanted, made = expected - before, here - before
        should_move = above(ops, wanted * wanted, self.still**2)
        moved = above(ops, made * wanted, wanted * wanted * 0.3)
        rest = combine(ops, (here,), BUTTER_STEADY[:, None])
        return choose(ops, should_move * (1.0 - moved), rest, states, motion.LOW_PASS_STATES)

    def _expect(self, ops: Any, states: Signal, here: Signal, command: Signal) -> Signal:
        """What to carry: the filter after this command, the mallet's place, and where it should be next."""
        rows, output = motion.low_pass()
        later = combine(ops, (states, command), rows)
        filtered = combine(ops, (states, command), output[None])
        return ops.concat(later, here, here + (filtered - here) * self.lag)
