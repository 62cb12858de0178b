"""How many directions of a memory are not linear, by automatic differentiation."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.learning.distil.jax_ops import JaxOps
from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.family import Family


def jacobian_rank(
    family: Family, params: Mapping[str, np.ndarray], states: int = 32, seed: int = 0, tolerance: float = 1e-4
) -> int | None:
    """Largest numerical rank of d(next memory)/d(memory) - A over random states; None for cores without an A.

    Singular values of at most `tolerance` count as zero: the differentiation is float32.
    """
    core, p = family.core, family.core_parameters(params)
    diagonal = core.diagonal(JaxOps, p)
    if diagonal is None:
        return None
    keys = jax.random.split(jax.random.key(seed), 3)
    memory = jax.random.normal(keys[0], (states, core.memory))
    code = jax.random.normal(keys[1], (states, core.code))
    action = jax.random.uniform(keys[2], (states, ACTION_FLOATS), minval=-1.0)

    def residual(memory: Any, code: Any, action: Any) -> Any:
        def next_memory(z: Any) -> Any:
            return core.advance(JaxOps, p, z, core.drive(JaxOps, p, code, action))

        return jax.jacobian(next_memory)(memory) - jnp.diag(diagonal)

    values = np.linalg.svd(np.asarray(jax.jit(jax.vmap(residual))(memory, code, action), np.float64), compute_uv=False)
    return int((values > tolerance).sum(axis=1).max())
