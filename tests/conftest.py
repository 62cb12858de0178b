"""What tests of several packages share."""

import pytest


@pytest.fixture(scope="module")
def quick_compilation():
    """For programs that run once: compile them fast rather than well."""
    jax = pytest.importorskip("jax")
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
