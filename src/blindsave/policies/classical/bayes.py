"""A tracker that knows where shots go: most lines through the goal mouth are impossible.

Drag slows the puck but does not bend its path, so a shot is a straight line y = a + s * (x - goal line), and shots
come in a few kinds, each with its own small range of a (where it would cross the goal line) and s (its slope). The
readings' sums give, in closed form, how well every kind at every noise level explains them and which line it would
then be; the kinds are weighed by that. When and how fast the puck comes is left to the gated Kalman filter.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from blindsave.policies.classical.signals import Signal, combine, split, spread, total
from blindsave.policies.classical.trackers import Kalman, Tracked
from blindsave.task.interface import to_robot
from blindsave.task.outcomes import GOAL_LINE_X_M

SUMS = 6
"""Over believed readings: 1, d, d*d, y, d*y, y*y, where d is the distance from the goal line."""
GOAL_X_M = float(to_robot(np.array([GOAL_LINE_X_M, 0.0]))[0])


@dataclass(frozen=True)
class Kind:
    """One kind of shot: how common, and Gaussian ranges of where it crosses the goal line (m) and of its slope."""

    share: float
    crossing: float
    crossing_spread: float
    slope: float
    slope_spread: float


@dataclass(frozen=True)
class Bayes:
    """Kinds of shots, fitted to train shots, times noise levels, equally likely before the first reading."""

    kalman: Kalman
    kinds: tuple[Kind, ...]
    noises: tuple[float, ...]
    """Standard deviations of a reading that are considered, metres."""

    @property
    def memory(self) -> int:
        """Floats carried: the filter and six sums."""
        return self.kalman.memory + SUMS

    def track(self, ops: Any, memory: Signal, reading: Signal, seen: Signal) -> Tracked:
        """One control step: x from the filter, y from the line."""
        memory, sums = split(memory, self.kalman.memory, SUMS)
        memory, place, velocity, believed, begins = self.kalman.follow(ops, memory, reading, seen)
        sums = self._add(ops, sums, reading, believed, begins)
        crossing, slope = self._line(ops, sums)
        x, vx = place[..., :1], velocity[..., :1]
        known = ops.minimum(sums[..., :1], 1.0)  # 1 after the first reading
        y = (crossing + slope * (x - GOAL_X_M)) * known
        return ops.concat(memory, sums), ops.concat(x, y), ops.concat(vx, slope * vx * known)

    def _add(self, ops: Any, sums: Signal, reading: Signal, believed: Signal, begins: Signal) -> Signal:
        """The sums with this reading; a track that begins anew forgets the old ones."""
        x, y = split(reading, 1, 1)
        d = x - GOAL_X_M
        new = ops.concat(believed, d, d * d, y, d * y, y * y) * spread(ops, believed, SUMS)
        return sums * spread(ops, 1.0 - begins, SUMS) + new

    def _line(self, ops: Any, sums: Signal) -> tuple[Signal, Signal]:
        """Crossing and slope, averaged over kinds and noise levels by how well they explain the readings."""
        cases = [(kind, noise**2) for kind in self.kinds for noise in self.noises]
        size = len(cases)
        a, s = (np.array([getattr(kind, name) for kind, _ in cases]) for name in ("crossing", "slope"))
        spreads = [np.array([getattr(kind, f"{name}_spread") for kind, _ in cases]) for name in ("crossing", "slope")]
        noise = np.array([noise for _, noise in cases])
        hold_a, hold_s = (noise / width**2 for width in spreads)  # what the kind itself adds to the evidence
        start = np.array([math.log(kind.share) for kind, _ in cases])
        start = start + 0.5 * (np.log(hold_a) + np.log(hold_s))
        n, d, dd = (spread(ops, one, size) for one in split(sums, 1, 1, 1, SUMS - 3)[:3])
        # Residuals of the kind's own line, as sums: of r, d*r and r*r.
        r = combine(ops, (sums,), np.stack([-a, -s, 0 * a, 1 + 0 * a, 0 * a, 0 * a], axis=1))
        dr = combine(ops, (sums,), np.stack([0 * a, -a, -s, 0 * a, 1 + 0 * a, 0 * a], axis=1))
        rr = combine(ops, (sums,), np.stack([a * a, 2 * a * s, s * s, -2 * a, -2 * s, 1 + 0 * a], axis=1))
        aa, ss = n + _f(hold_a), dd + _f(hold_s)
        determinant = ops.maximum(aa * ss - d * d, 1e-12)
        shift_a, shift_s = (ss * r - d * dr) / determinant, (aa * dr - d * r) / determinant
        misfit = ops.maximum(rr - (shift_a * r + shift_s * dr), 0.0)
        evidence = (_f(start) - 0.5 * ops.log(determinant)) - (misfit * _f(0.5 / noise) + n * _f(0.5 * np.log(noise)))
        peak = total(ops, ops.onehot(evidence, size) * evidence, size)
        weight = ops.exp(evidence - spread(ops, peak, size))
        scale = 1.0 / total(ops, weight, size)
        crossing = total(ops, weight * (_f(a) + shift_a), size) * scale
        return crossing, total(ops, weight * (_f(s) + shift_s), size) * scale


def _f(values: Any) -> np.ndarray:
    return np.asarray(values, np.float32)
