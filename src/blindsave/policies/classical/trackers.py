"""Where is the puck, and how fast? Three classical answers from the readings so far.

A tracker carries a few floats, all zero before the first reading. `track` takes what it carries, the reading (x, y in
metres) and whether there is one, and returns what to carry and the puck's estimated place and velocity. Without an
estimate the velocity is zero, and the planner waits.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.policies.classical.motion import GLIDE_S, PUCK_DECAY
from blindsave.policies.classical.signals import Signal, above, choose, split, spread, total

REPEATED_M = 5e-4
"""Readings nearer than this to the last one are the last one again, which says nothing: a shot moves centimetres."""

Tracked = tuple[Signal, Signal, Signal]
"""What to carry, place (x, y) and velocity (vx, vy)."""


class Tracker(Protocol):
    """Readings to a state of the puck."""

    @property
    def memory(self) -> int:
        """Floats carried."""
        ...

    def track(self, ops: Any, memory: Signal, reading: Signal, seen: Signal) -> Tracked:
        """One control step."""
        ...


@dataclass(frozen=True)
class Differences:
    """The last two readings: the way between them over the time between them, no drag."""

    memory = 6

    def track(self, ops: Any, memory: Signal, reading: Signal, seen: Signal) -> Tracked:
        """Carries the last reading, the velocity, the steps since, and whether there was a reading at all."""
        last, velocity, age, known = split(memory, 2, 2, 1, 1)
        age = age + 1.0
        rate = spread(ops, 1.0 / (age * CONTROL_DT_S), 2)
        velocity = choose(ops, seen * known, (reading - last) * rate, velocity, 2)
        last = choose(ops, seen, reading, last, 2)
        age, known = age * (1.0 - seen), ops.maximum(known, seen)
        place = last + velocity * spread(ops, age * CONTROL_DT_S, 2)
        return ops.concat(last, velocity, age, known), place, velocity


@dataclass(frozen=True)
class LeastSquares:
    """A straight line through all readings, no drag. Carries seven sums over readings, with time counted from now."""

    memory = 7

    def track(self, ops: Any, memory: Signal, reading: Signal, seen: Signal) -> Tracked:
        """The sums are of 1, t, t*t, x, y, t*x and t*y; every step makes every t one less."""
        count, t, tt, z, tz = split(memory, 1, 1, 1, 2, 2)
        tz = tz - z
        tt, t = (tt - 2.0 * t) + count, t - count
        count, z = count + seen, z + reading * spread(ops, seen, 2)
        spread_of_t = count * tt - t * t
        line = above(ops, spread_of_t, 0.5)
        slope = spread(ops, line / ops.maximum(spread_of_t, 0.5), 2)
        velocity = (spread(ops, count, 2) * tz - spread(ops, t, 2) * z) * slope
        mean = spread(ops, 1.0 / ops.maximum(count, 1.0), 2)
        place = (z - velocity * spread(ops, t, 2)) * mean
        return ops.concat(count, t, tt, z, tz), place, velocity * (1 / CONTROL_DT_S)


@dataclass(frozen=True)
class Kalman:
    """Position and velocity with the puck's drag, one covariance for both axes; lengths in metres.

    With a `gate`, readings that lie more than so many standard deviations off are not believed, nor is one that
    repeats the last; after `patience` disbelieved ones in a row the track begins anew with the next.
    """

    noise: float
    """Standard deviation of a reading."""
    speed: tuple[float, float]
    """Expected velocity before the second reading, vx and vy."""
    speed_spread: float
    """Standard deviation of that."""
    push: float
    """Unexplained acceleration, m/s per square root of a second."""
    gate: float | None = None
    patience: int = 2

    @property
    def memory(self) -> int:
        """Place, velocity, three covariances, is there a track; with a gate the last reading and disbelieved ones."""
        return 8 if self.gate is None else 11

    def track(self, ops: Any, memory: Signal, reading: Signal, seen: Signal) -> Tracked:
        """Predict, and where there is a reading, correct."""
        memory, place, velocity, _, _ = self.follow(ops, memory, reading, seen)
        return memory, place, velocity

    def follow(
        self, ops: Any, memory: Signal, reading: Signal, seen: Signal
    ) -> tuple[Signal, Signal, Signal, Signal, Signal]:
        """The same, and two flags: was the reading believed, and did a track begin with it?"""
        place, velocity, covariance, known, *gated = split(memory, 2, 2, 3, 1, *([2, 1] if self.gate else []))
        p, c, v = self._spread_out(split(covariance, 1, 1, 1))
        place, velocity = place + velocity * GLIDE_S, velocity * PUCK_DECAY
        off = (reading - place) * spread(ops, known, 2)
        doubt = p + self.noise**2
        begins, kept = seen * (1.0 - known), ()
        if self.gate is None:
            believed = seen
        else:
            distance = total(ops, off * off, 2) / doubt
            believed, begins, kept = self._judge(ops, gated, reading, seen, known, distance)
        gain_p, gain_v, trust = p / doubt * believed, c / doubt * believed, believed * self.noise**2 / doubt
        place, velocity = place + off * spread(ops, gain_p, 2), velocity + off * spread(ops, gain_v, 2)
        left = (1.0 - believed) + trust
        p, c, v = p * left, c * left, v - gain_v * c
        place = choose(ops, begins, reading, place, 2)
        velocity = choose(ops, begins, np.array(self.speed, np.float32), velocity, 2)
        fresh = np.array([self.noise**2, 0.0, self.speed_spread**2], np.float32)
        covariance = choose(ops, begins, fresh, ops.concat(p, c, v), 3)
        known = ops.maximum(known, begins)
        memory = ops.concat(place, velocity, covariance, known, *kept)
        return memory, place, velocity, ops.maximum(believed, begins), begins

    def _spread_out(self, covariance: list[Signal]) -> tuple[Signal, Signal, Signal]:
        """Covariances one control step later."""
        p, c, v = covariance
        p = (p + c * (2 * GLIDE_S)) + v * GLIDE_S**2
        c = (c + v * GLIDE_S) * PUCK_DECAY
        return p, c, v * PUCK_DECAY**2 + self.push**2 * CONTROL_DT_S

    def _judge(
        self, ops: Any, gated: list[Signal], reading: Signal, seen: Signal, known: Signal, distance: Signal
    ) -> tuple[Signal, Signal, tuple[Signal, Signal]]:
        """Is a reading believed, is it the first of a track? And what to carry for the next judgement."""
        assert self.gate is not None
        last, refused = gated
        moved = reading - last
        new = seen * above(ops, total(ops, moved * moved, 2), REPEATED_M**2)
        far = above(ops, distance, self.gate**2) * known
        anew = far * above(ops, refused, self.patience - 0.5)
        believed = new * known * (1.0 - far)
        begins = new * ops.maximum(1.0 - known, anew)
        refused = choose(ops, new, (refused + 1.0) * far * (1.0 - anew), refused)
        return believed, begins, (choose(ops, seen, reading, last, 2), refused)
