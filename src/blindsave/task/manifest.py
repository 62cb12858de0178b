"""Fingerprints of shot sets, by which two implementations can tell that they drew the same shots."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from blindsave.task.shots import Shot, Split


def manifest_sha256(split: Split, members: Iterable[Shot]) -> str:
    """Fingerprint of a split: SHA-256 over one canonical JSON record per shot, in schedule order."""
    records = [_record(split, shot) for shot in members]
    text = json.dumps(records, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _record(split: Split, shot: Shot) -> dict[str, Any]:
    """One shot under the field names of the published manifests, so that hashes can be compared."""
    record: dict[str, Any] = {
        "shot": {
            "shot_id": shot.id,
            "position_table_xy": [shot.x, shot.y],
            "velocity_table_xy": [shot.vx, shot.vy],
            "yaw_position": 0.0,
            "yaw_velocity": 0.0,
        },
        "distribution_id": split.distribution,
        "split": split.name,
        "launch_region": shot.launch_region,
        "target_region": shot.target_region,
        "target_goal_y": shot.target_y,
        "nominal_approach_time_seconds": shot.approach_time_s,
        "nominal_speed": shot.speed,
        "approach_angle_degrees": shot.angle_deg,
    }
    if shot.alias_family is not None:
        record["alias_family_id"] = shot.alias_family
        record["nominal_blackout_start_table_xy"] = shot.rendezvous
    return record
