"""How JAX is set up for a run: a persistent compilation cache, and what the device is called."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

SETTINGS = {"jax_persistent_cache_min_compile_time_secs": 1.0, "jax_persistent_cache_min_entry_size_bytes": 0}


def use_cache(folder: Path) -> None:
    """Keep compiled programs in `folder`, so that continuing a run does not compile again."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    settings = {"jax_compilation_cache_dir": str(Path(folder).resolve()), **SETTINGS}
    if "jax" not in sys.modules:  # it reads its environment when it is imported, if it is imported at all
        os.environ.update({name.upper(): str(value) for name, value in settings.items()})
        return
    import jax

    for name, value in settings.items():
        jax.config.update(name, value)


def device() -> dict[str, Any]:
    """Name the device and the version of JAX."""
    import jax

    first = jax.devices()[0]
    return {"platform": first.platform, "device": first.device_kind, "jax": jax.__version__}
