"""Fit and judge linear probes: can the hidden puck's position be read from what a policy carries?

Each policy plays the train split in closed loop with the study's longest blackout. Every observation without the puck,
up to the first contact, gives one row: what the policy carried then, and where the puck really was. Ridge regression
maps one to the other; its penalty is chosen on train units set aside. Errors are those of fresh validation episodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.diagnostics.probe import Probe, features
from blindsave.policies import closed_loop
from blindsave.task.conditions import CLEAN
from blindsave.task.interface import to_table
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START

BLACKOUT = 20
PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
SET_ASIDE = 5  # every fifth unit of the train shots chooses the penalty
Rows = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hidden:
    """Moments without the puck, one per row."""

    features: NDArray[np.float32]
    """What the policy had, (n, C)."""
    puck_mm: Rows
    """Where the puck was, (n, 2), table frame."""
    hidden_steps: NDArray[np.int_]
    """How many observations in a row had been without the puck, this one included."""
    unit: NDArray[np.int_]
    """Which unit of the split (alias family or single shot) it came from."""

    def of(self, rows: NDArray[np.bool_]) -> "Hidden":
        """Keep some rows."""
        return Hidden(self.features[rows], self.puck_mm[rows], self.hidden_steps[rows], self.unit[rows])


def hidden_moments(policy: Any, shots: Sequence[Shot], blackout: int = BLACKOUT, threads: int | None = None) -> Hidden:
    """Let a policy play, and keep what it carried whenever the puck was hidden and not yet touched."""
    played = closed_loop.run(policy, [CLEAN.episode(s, blackout) for s in shots], record=True, threads=threads)
    assert played.obs is not None and played.truth is not None
    units = {unit: k for k, unit in enumerate(dict.fromkeys(shot.unit for shot in shots))}
    unit_of = np.array([units[shot.unit] for shot in shots])
    stop = np.where(played.first_contact >= 0, played.first_contact, played.steps)
    carry, parts = policy.initial(len(shots)), []
    for t in range(BLACKOUT_START + blackout):
        carry, _ = policy.step(carry, np.ascontiguousarray(played.obs[:, t]))
        rows = (t >= BLACKOUT_START) & (t < stop) & ~played.visible[:, t]
        if rows.any():
            puck = 1000 * to_table(played.truth[rows, t, :2])
            seen = features(carry, played.obs[:, t])[rows]
            parts.append((seen, puck, np.full(rows.sum(), t - BLACKOUT_START + 1), unit_of[rows]))
    return Hidden(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def ridge(x: Rows, y: Rows, penalty: float) -> tuple[Rows, Rows]:
    """Weights (2, C) and bias (2,) in the units of x, penalised in units of its standard deviations."""
    mean, spread = x.mean(0), x.std(0)
    scale = np.where(spread > 1e-9, spread, np.inf)  # a feature that never changes gets no weight
    z, centre = (x - mean) / scale, y.mean(0)
    gram = z.T @ z / len(z) + penalty * np.eye(x.shape[1])
    weight = np.linalg.solve(gram, z.T @ (y - centre) / len(z)).T / scale
    return weight, centre - weight @ mean


def fit(moments: Hidden) -> tuple[Rows, Rows, float]:
    """Weights, bias and the penalty that did best on the units set aside."""
    aside = moments.unit % SET_ASIDE == 0
    learn, choose = moments.of(~aside), moments.of(aside)

    def error(penalty: float) -> float:
        weight, bias = ridge(learn.features.astype(np.float64), learn.puck_mm, penalty)
        return float(np.mean((choose.features @ weight.T + bias - choose.puck_mm) ** 2))

    penalty = min(PENALTIES, key=error)
    return *ridge(moments.features.astype(np.float64), moments.puck_mm, penalty), penalty


def errors(believed_mm: Rows, moments: Hidden) -> dict[str, Any]:
    """Distances between believed and true puck, over all hidden moments and by hidden time."""
    offset = believed_mm - moments.puck_mm
    distance, lateral = np.hypot(*offset.T), np.abs(offset[:, 1])
    by_time = []
    for step in np.unique(moments.hidden_steps).tolist():
        rows = moments.hidden_steps == step
        by_time.append(
            {
                "hidden_ms": round(1000 * CONTROL_DT_S * step),
                "moments": int(rows.sum()),
                "mean_mm": float(distance[rows].mean()),
                "median_mm": float(np.median(distance[rows])),
                "p90_mm": float(np.quantile(distance[rows], 0.9)),
                "lateral_mm": float(lateral[rows].mean()),
            }
        )
    return {
        "mean_mm": float(distance.mean()),
        "median_mm": float(np.median(distance)),
        "p90_mm": float(np.quantile(distance, 0.9)),
        "lateral_mm": float(lateral.mean()),
        "moments": len(distance),
        "by_time": by_time,
    }


def clock_errors(learn: Hidden, judge: Hidden) -> dict[str, Any]:
    """Errors of a guess that knows only how long the puck has been hidden: the mean place at that time in training."""
    steps = np.unique(learn.hidden_steps)
    means = np.array([learn.puck_mm[learn.hidden_steps == step].mean(0) for step in steps])
    place = np.clip(np.searchsorted(steps, judge.hidden_steps), 0, len(steps) - 1)
    return errors(means[place], judge)


def fit_probe(
    name: str, sha256: str, policy: Any, train: Sequence[Shot], judge: Sequence[Shot], threads: int | None = None
) -> Probe:
    """A policy's probe; its figures, and the clock's on the same moments, are of the judging shots."""
    learn, seen = hidden_moments(policy, train, threads=threads), hidden_moments(policy, judge, threads=threads)
    weight, bias, penalty = fit(learn)
    probe = Probe(weight.astype(np.float32), bias.astype(np.float32), name, sha256)
    figures = {
        "reads": "carry" if policy.initial(1).shape[1] else "observation",
        "floats": int(weight.shape[1]),
        "penalty": penalty,
        "blackout": BLACKOUT,
        "train_shots": len(train),
        "train_moments": len(learn.puck_mm),
        "validation_shots": len(judge),
        **errors(probe.position_mm(seen.features), seen),
        "clock": clock_errors(learn, seen),
    }
    return replace(probe, figures=figures)
