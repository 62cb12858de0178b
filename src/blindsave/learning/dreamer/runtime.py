"""How JAX is set up for a run: a persistent compilation cache, and what the device is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax


def use_cache(folder: Path) -> None:
    """Keep compiled programs in `folder`, so that continuing a run does not compile again."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", str(Path(folder).resolve()))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 1.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def device() -> dict[str, Any]:
    """Name the device and the version of JAX."""
    first = jax.devices()[0]
    return {"platform": first.platform, "device": first.device_kind, "jax": jax.__version__}
