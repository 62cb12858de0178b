"""What ran, and on what kind of machine: written into every manifest."""

import functools
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from blindsave.store.hashing import SOURCE

LIBRARIES = ("mujoco", "numpy", "pyarrow", "safetensors", "gymnasium", "jax", "jaxlib", "optax", "torch")


def provenance() -> dict[str, Any]:
    """What ran: package and library versions, git commit if any, and the machine (never its name)."""
    return {
        "blindsave": _package_version(),
        "python": platform.python_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name)) is not None},
        "git": git_state(),
        "machine": machine(),
    }


@functools.cache
def machine() -> dict[str, Any]:
    """CPU model, core count and operating system."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "os": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
    }


@functools.cache
def git_state() -> dict[str, Any] | None:
    """Commit of the checkout this package runs from, and whether it has uncommitted changes; else None."""
    here = SOURCE
    try:
        commit = _git(here, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(here, "status", "--porcelain", "--", str(here)))}
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def _package_version() -> str:
    from blindsave import __version__

    return __version__


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
