"""What tests of several packages share."""

import ctypes
import gc
import os
import shutil
import sys
import tempfile

import pytest


def pytest_configure(config):
    """Programs that JAX has compiled once are found by every later test, worker and subprocess of this run."""
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="blindsave-compiled-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["JAX_COMPILATION_CACHE_DIR"] = folder
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0.2"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "0"


@pytest.fixture(scope="module", autouse=True)
def forgotten_programs():
    """Let go of a module's compiled programs and pictures: they are kept, and a worker would grow by gigabytes."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.clear_caches()
    opengl = sys.modules.get("blindsave.draw.opengl")
    if opengl is not None:
        opengl._close_all()
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)  # freed memory goes back to the system only when asked


@pytest.fixture(scope="module")
def quick_compilation():
    """For programs that run once: compile them fast rather than well."""
    jax = pytest.importorskip("jax")
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture
def own_families(monkeypatch):
    """Families registered by a test are gone after it."""
    from blindsave.policies.students import registry

    monkeypatch.setattr(registry, "_families", dict(registry._families))
