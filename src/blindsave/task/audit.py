"""Is memory really needed? The two shots of an alias family must look the same when the lights go out.

Both members are played through the locked prefix under different commands; the lock must make those commands
leave no trace, so that the first hidden observation says nothing about which shot it is.
"""

import numpy as np

from blindsave.arena.simulator import Backend
from blindsave.task.conditions import CLEAN
from blindsave.task.controllers import intercept
from blindsave.task.defend import DefendBatch
from blindsave.task.shots import Shot, shots
from blindsave.task.tracking import BLACKOUT_START

BLACKOUT_STEPS = 20
MIN_FAMILIES = 90
MAX_LAST_VISIBLE_MM = 10.0
MAX_OBSERVATION_DIFFERENCE = 1e-6
MIN_ACTION_DISTANCE = 0.25


def families(split: str) -> list[tuple[Shot, Shot]]:
    """Alias pairs of a split, in the order of their ids: the shot to the left post, then the one to the right."""
    members: dict[str, list[Shot]] = {}
    for shot in sorted(shots(split), key=lambda shot: (shot.alias_family or "", shot.target_y)):
        if shot.alias_family is not None:
            members.setdefault(shot.alias_family, []).append(shot)
    return [(left, right) for left, right in members.values()]


def audit(split: str = "calibration", *, backend: Backend = "auto") -> dict:
    """Measure the ambiguity of every alias family of a split."""
    pairs = families(split)
    members = [shot for pair in pairs for shot in pair]
    batch = DefendBatch(len(members), backend=backend)
    batch.reset([CLEAN.episode(shot, BLACKOUT_STEPS) for shot in members])
    # Opposite commands for the two members: any leak through the lock would show.
    commands = np.tile(np.array([[1.0, -1.0], [1.0, 1.0]], np.float32), (len(pairs), 1))
    for _ in range(BLACKOUT_START - 1):
        batch.step(commands)
    last_visible = _by_pair(batch.truth.copy())
    all_visible = bool(batch.visible.all())
    batch.step(commands)
    first_hidden, observed = _by_pair(batch.truth.copy()), _by_pair(batch.obs.copy())
    actions = _by_pair(intercept(batch.truth).astype(np.float64))
    difference = np.abs(observed[:, 0] - observed[:, 1]).max(axis=1)
    targets = np.array([right.target_y - left.target_y for left, right in pairs])
    figures = {
        "families": len(pairs),
        "max_last_visible_separation_mm": 1e3 * float(_distance(last_visible[..., :2]).max()),
        "max_first_hidden_separation_mm": 1e3 * float(_distance(first_hidden[..., :2]).max()),
        "max_first_hidden_observation_difference": float(difference.max()),
        "identical_first_hidden_observations": int((difference == 0).sum()),
        "min_privileged_action_distance": float(_distance(actions).min()),
        "min_target_separation_m": float(targets.min()),
    }
    passed = (
        figures["families"] >= MIN_FAMILIES
        and all_visible
        and not batch.visible.any()
        and figures["max_last_visible_separation_mm"] <= MAX_LAST_VISIBLE_MM
        and figures["max_first_hidden_observation_difference"] <= MAX_OBSERVATION_DIFFERENCE
        and figures["min_privileged_action_distance"] >= MIN_ACTION_DISTANCE
    )
    return {"split": split, **figures, "passed": bool(passed)}


def _by_pair(rows: np.ndarray) -> np.ndarray:
    return rows.reshape(-1, 2, rows.shape[1])


def _distance(pairs: np.ndarray) -> np.ndarray:
    return np.linalg.norm(pairs[:, 0] - pairs[:, 1], axis=-1)
