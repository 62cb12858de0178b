"""What this machine has to offer."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

TRAININGS_PER_GPU = 4
"""Small models leave most of a GPU idle: a few trainings share one."""


def cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpus(environment: Mapping[str, str] = os.environ, devices: Path = Path("/dev")) -> list[str]:
    """Names of the NVIDIA GPUs that JAX may use here, without starting JAX."""
    if environment.get("JAX_PLATFORMS") == "cpu":
        return []
    named = environment.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name for name in named.split(",") if name]
    found = (re.fullmatch(r"nvidia(\d+)", path.name) for path in devices.glob("nvidia*"))
    return sorted((match[1] for match in found if match), key=int)
