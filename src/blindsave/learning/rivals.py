"""Measure, fit and tune the classical rivals, on train shots alone: `blindsave rivals tune`.

One after the other: the arm's lag is measured, the planner is tuned behind the truth, the kinds of shots are counted,
then the filters are tuned behind that planner. The planner is the same for all, so that rivals differ in nothing but
what they know of the puck. Everything is a function of the train split, so the same command writes the same file.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from blindsave.policies.classical import motion
from blindsave.policies.classical.bayes import Kind
from blindsave.policies.classical.rivals import PLANNER, RIVALS, Rival, TruePlanner, settings_from
from blindsave.policies.closed_loop import run
from blindsave.task.conditions import condition
from blindsave.task.controllers import INTERCEPT_X_M
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import LOCKED_STEPS, Episode
from blindsave.task.interface import MALLET, mallet_m, normalise_mallet
from blindsave.task.outcomes import GOAL_LINE_X_M
from blindsave.task.shots import Shot, custom, shots

SPLIT = "train"
BLACKOUT = 20
NOISE_MM, WORSE_NOISE_MM = 5.0, 10.0
"""What filters are tuned for, and what a gate must also stand: a tracker that is worse than it says."""
FALSE = "noise_1mm+outliers_5percent"
"""The false detections for which a gate is tuned."""
HELD_STEPS = LOCKED_STEPS + 20
SLOWER = 2 / 3
"""Train's pairs at this share of their speed are 1.2 to 1.7 m/s: what a held arm must still save."""

LAGS = np.arange(0.150, 0.2501, 0.001)
COMMANDS_M = (0.05, 0.1, 0.2, 0.4)
CAUTIONS = (0.4, 0.2, 0.1, 0.05)
PUSHES = (0.02, 0.05, 0.12, 0.3, 0.8)
"""The noise is taken as known, since only its ratio to the push decides what a filter believes."""
GATES, PATIENCES = (3.0, 4.0, 6.0, 8.0), (1, 2)
ANY_SPEED = {"speed": [0.0, 0.0], "speed_spread": 3.0}
"""What a tracker without a prior expects of a puck: anything up to the speed of a hard shot."""
CONSIDERED_NOISES_M = [0.0005, 0.001, 0.002, 0.004, 0.008, 0.016]
OTHER = Kind(share=0.01, crossing=0.0, crossing_spread=0.3, slope=0.0, slope_spread=0.5)
"""Any line at all: one shot in a hundred, so that nothing is impossible."""

Values = dict[str, Any]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Trial:
    """One candidate and how many episodes of each condition it saved."""

    candidate: Values
    saves: tuple[int, ...]


def tune(tell: Tell = lambda _said: None, every: int = 1) -> Values:
    """Settings of all rivals and the record of how they came to be; `every` thins the shots out, for a quick look."""
    train = shots(SPLIT)[::every]
    lag, error = measure_lag()
    tell(f"arm: lag {lag:g}, largest error {100 * error:.1f} % of the way")
    planner, planner_trials = tune_planner(lag, train)
    tell(f"planner: {planner}")
    levels = [condition(f"noise_{mm:g}mm") for mm in (0.0, NOISE_MM, WORSE_NOISE_MM)]
    clean, noisy, worse = ([level.episode(shot, BLACKOUT) for shot in train] for level in levels)
    plain = [{"noise": NOISE_MM / 1000, **ANY_SPEED, "push": push} for push in PUSHES]
    kalman, kalman_trials = _best("kalman", planner, plain, [clean, noisy])
    tell(f"kalman: {kalman}")
    gates = [{**kalman, "gate": g, "patience": p} for g, p in itertools.product(GATES, PATIENCES)]
    false = [condition(FALSE).episode(shot, BLACKOUT) for shot in train]
    gated, gated_trials = _best("kalman_gated", planner, gates, [noisy, worse, false])
    tell(f"kalman_gated: {gated}")
    bayes = {"kalman": {**gated, **speed_of(train)}, "kinds": kinds_of(train), "noises": CONSIDERED_NOISES_M}
    trackers = dict(zip(RIVALS, ({}, {}, kalman, gated, bayes), strict=True))
    record = {
        "split": SPLIT,
        "shots": len(train),
        "arm": {"lag": lag, "largest_error": round(error, 4)},
        "planner": {"conditions": ["truth", "truth, slowed and held"], "trials": planner_trials},
        "kalman": {"conditions": ["400 ms", "400 ms, noise 5 mm"], "trials": kalman_trials},
        "kalman_gated": {"conditions": ["400 ms, noise 5 mm", "noise 10 mm", "5 % false"], "trials": gated_trials},
    }
    found = {PLANNER: {"planner": planner}} | {n: {"planner": planner, **v} for n, v in trackers.items()}
    return {"settings": found, "record": record}


def measure_lag() -> tuple[float, float]:
    """The lag that best predicts a sideways move to a far command, and the largest error as a share of the way."""
    shot = custom((0.9, 0.4, -0.6, 0.0))  # a puck far from the arm for as long as the measurement lasts
    batch = DefendBatch(len(COMMANDS_M))
    batch.reset([Episode(shot)] * len(COMMANDS_M))
    here = mallet_m(batch.obs[:, MALLET])[:, 0]
    actions = normalise_mallet(np.stack([here, np.array(COMMANDS_M)], axis=1))
    places = []
    for step in range(LOCKED_STEPS + 45):
        batch.step(actions)
        if step >= LOCKED_STEPS:
            places.append(mallet_m(batch.obs[:, MALLET])[:, 1] / COMMANDS_M)
    measured = np.array(places)
    errors = [np.abs(motion.arm_responses(lag, len(measured))[1][:, None] - measured) for lag in LAGS]
    best = int(np.argmin([float((error**2).mean()) for error in errors]))
    return round(float(LAGS[best]), 3), float(errors[best].max())


def tune_planner(lag: float, train: Sequence[Shot]) -> tuple[Values, list[Values]]:
    """The most cautious planner of those that save most when told the truth, slow shots before a held arm included."""
    grids = [[Episode(shot) for shot in train], [held(shot) for shot in train if shot.alias_family]]
    fixed = {"line": INTERCEPT_X_M, "lag": lag, "slack": 0.1, "nearest": 0.6, "hurry": 0.8}
    trials = []
    for caution in CAUTIONS:
        values = {**fixed, "caution": caution}
        policy = TruePlanner(settings_from(PLANNER, {"planner": values}))
        trials.append(Trial(values, tuple(_saves(policy, episodes) for episodes in grids)))
    return _winner(trials), _told(trials, "caution")


def held(shot: Shot) -> Episode:
    """The same shot, slower, before an arm that is held until long after the puck disappeared."""
    return Episode(custom((shot.x, shot.y, SLOWER * shot.vx, SLOWER * shot.vy)), locked_steps=HELD_STEPS)


def kinds_of(train: Iterable[Shot]) -> list[Values]:
    """Where shots of each kind cross the goal line and at which slope, and any other line."""
    lines: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for shot in train:
        slope = (shot.y - shot.target_y) / (shot.x - GOAL_LINE_X_M)
        lines.setdefault((shot.launch_region, shot.target_region), []).append((shot.target_y, slope))
    count = sum(map(len, lines.values()))
    kinds = []
    for key in sorted(lines):
        (crossing, slope), (crossing_spread, slope_spread) = np.mean(lines[key], 0), np.std(lines[key], 0)
        share = (1 - OTHER.share) * len(lines[key]) / count
        kinds.append(Kind(*(round(float(v), 5) for v in (share, crossing, crossing_spread, slope, slope_spread))))
    return [asdict(kind) for kind in (*kinds, OTHER)]


def speed_of(train: Iterable[Shot]) -> Values:
    """How fast shots come, and how much that varies."""
    speeds = np.array([shot.vx for shot in train])
    return {"speed": [round(float(speeds.mean()), 3), 0.0], "speed_spread": round(float(speeds.std()), 3)}


def _best(
    name: str, planner: Values, candidates: Sequence[Values], grids: Sequence[Sequence[Episode]]
) -> tuple[Values, list[Values]]:
    trials = []
    for values in candidates:
        policy = Rival(name, settings_from(name, {"planner": planner, **values}))
        trials.append(Trial(values, tuple(_saves(policy, episodes) for episodes in grids)))
    varied = [key for key in candidates[0] if len({str(one[key]) for one in candidates}) > 1]
    return _winner(trials), _told(trials, *varied)


def _winner(trials: Sequence[Trial]) -> Values:
    """The candidate that saved most; the first of equals."""
    return max(trials, key=lambda trial: sum(trial.saves)).candidate


def _told(trials: Iterable[Trial], *varied: str) -> list[Values]:
    return [{**{key: trial.candidate[key] for key in varied}, "saves": list(trial.saves)} for trial in trials]


def _saves(policy: Any, episodes: Sequence[Episode]) -> int:
    return int(run(policy, episodes).saved.sum())
