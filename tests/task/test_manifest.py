"""Fingerprints of shot sets: every published field counts, and so does the order."""

from dataclasses import replace

import pytest

from blindsave.task.manifest import manifest_sha256
from blindsave.task.shots import SPLITS, shots

SPLIT = SPLITS["calibration"]
ALIAS = next(shot for shot in shots("calibration") if shot.alias_family)
SUPPORT = next(shot for shot in shots("calibration") if not shot.alias_family)
FINGERPRINT = manifest_sha256(SPLIT, [ALIAS, SUPPORT])


@pytest.mark.parametrize(
    "change",
    [
        {"id": "another"},
        {"x": ALIAS.x + 1e-12},
        {"vy": -ALIAS.vy},
        {"launch_region": "left"},
        {"target_y": 0.0},
        {"approach_time_s": 0.5},
        {"speed": 2.0},
        {"angle_deg": 0.0},
        {"alias_family": "another"},
        {"rendezvous": (0.3, 1e-9)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_of_a_shot_decides_the_fingerprint(change):
    assert manifest_sha256(SPLIT, [replace(ALIAS, **change), SUPPORT]) != FINGERPRINT


def test_order_split_and_distribution_decide_the_fingerprint():
    assert manifest_sha256(SPLIT, [SUPPORT, ALIAS]) != FINGERPRINT
    assert manifest_sha256(replace(SPLIT, name="train"), [ALIAS, SUPPORT]) != FINGERPRINT
    assert manifest_sha256(replace(SPLIT, distribution="other"), [ALIAS, SUPPORT]) != FINGERPRINT
    assert manifest_sha256(SPLIT, iter((ALIAS, SUPPORT))) == FINGERPRINT


def test_the_seed_is_not_part_of_it_only_what_was_drawn():
    assert manifest_sha256(replace(SPLIT, seed=1), [ALIAS, SUPPORT]) == FINGERPRINT


def test_a_shot_that_is_not_finite_has_no_fingerprint():
    with pytest.raises(ValueError, match="JSON compliant"):
        manifest_sha256(SPLIT, [replace(SUPPORT, vx=float("nan"))])
