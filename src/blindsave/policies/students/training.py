"""Students in JAX, for training: ordinary float32 kernels, whole sequences at once, differentiable.

Sequences are time-major: observations (T, B, 19), previous actions (T, B, 2), memory (B, M). Everything is a pure
function of plain dicts of arrays, so `jax.jit`, `jax.grad`, `jax.vmap` and `jax.lax.map` over seeds apply as they are.
"""

from collections.abc import Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput
from blindsave.policies.base import ACTION_FLOATS
from blindsave.policies.students.core import CODE_FLOATS, MemoryCore
from blindsave.policies.students.family import Family

Scan = Literal["auto", "sequential", "associative"]


class JaxOps:
    """The operations of the canonical arithmetic with JAX's own kernels: equal in meaning, not in every bit."""

    silu = staticmethod(jax.nn.silu)
    tanh = staticmethod(jnp.tanh)
    sigmoid = staticmethod(jax.nn.sigmoid)
    exp = staticmethod(jnp.exp)
    log = staticmethod(jnp.log)
    sqrt = staticmethod(jnp.sqrt)
    maximum = staticmethod(jnp.maximum)
    minimum = staticmethod(jnp.minimum)

    @staticmethod
    def linear(x: Any, weight: Any, start: Any = None) -> Any:
        """Start + W x, for one matrix or a stack of blocks."""
        if weight.ndim == 3:
            blocks = x.reshape(*x.shape[:-1], weight.shape[0], weight.shape[2])
            product = jnp.einsum("...gi,goi->...go", blocks, weight).reshape(*x.shape[:-1], -1)
        else:
            product = x @ weight.T
        return product if start is None else product + start

    @staticmethod
    def concat(*parts: Any) -> Any:
        """Join along the last axis; rows broadcast."""
        rows = jnp.broadcast_shapes(*(part.shape[:-1] for part in parts))
        return jnp.concatenate([jnp.broadcast_to(p, (*rows, p.shape[-1])) for p in parts], axis=-1)

    @staticmethod
    def symlog(x: Any) -> Any:
        """sign(x) * log(1 + |x|)."""
        return jnp.sign(x) * jnp.log1p(jnp.abs(x))

    @staticmethod
    def bound(x: Any) -> Any:
        """X / max(1, |x|)."""
        return x / jnp.maximum(1.0, jnp.abs(x))

    @staticmethod
    def rmsnorm(x: Any, scale: Any, eps: float) -> Any:
        """RMS normalisation with a learned scale."""
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale

    @staticmethod
    def onehot(x: Any, classes: int) -> Any:
        """One-hot of the largest of every `classes` neighbours."""
        groups = x.reshape(*x.shape[:-1], -1, classes)
        return jax.nn.one_hot(groups.argmax(-1), classes).reshape(x.shape)


def initial_memory(family: Family, batch: int) -> jax.Array:
    """The memory of `batch` fresh episodes."""
    return jnp.zeros((batch, family.core.memory), jnp.float32)


def to_jax(params: Mapping[str, np.ndarray]) -> dict[str, jax.Array]:
    """Parameters as JAX arrays."""
    return {name: jnp.asarray(array) for name, array in params.items()}


def to_numpy(params: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Parameters as float32 NumPy arrays, ready to be saved or run."""
    return {name: np.asarray(array, np.float32) for name, array in params.items()}


def step(family: Family, params: Mapping[str, Any], carry: Any, observation: Any) -> tuple[Any, Any]:
    """One closed-loop step, the student's own action fed back: (B, C), (B, 19) to (B, C), (B, 2)."""
    return family.step(JaxOps, params, carry, observation)


def forward(
    family: Family,
    params: Mapping[str, Any],
    memory: Any,
    observations: Any,
    previous: Any,
    starts: Any = None,
    scan: Scan = "auto",
) -> tuple[Any, Any]:
    """Run a sequence with given previous actions (teacher forcing): the last memory and actions (T, B, 2).

    `starts` (T, B), if given, marks first steps of episodes: the memory is forgotten before such a step.
    """
    core = family.core
    memory, inputs = _observe(core, memory, observations, starts)
    codes = family.encode(JaxOps, params, inputs)
    if not core.recurrent:
        return memory, family.act(JaxOps, params, None, codes)
    p = family.core_parameters(params)
    drives = core.drive(JaxOps, p, codes, previous)
    memories = scan_memory(core, p, memory, drives, codes.shape[:2], starts, scan)
    return memories[-1], family.act(JaxOps, params, memories, codes)


def scan_memory(
    core: MemoryCore,
    p: Mapping[str, Any],
    memory: Any,
    drives: tuple[Any, ...],
    rows: tuple[int, ...],
    starts: Any = None,
    scan: Scan = "auto",
) -> Any:
    """All memories (T, B, M) of a sequence of drives. The sequential scan is the oracle of the associative one."""
    if scan == "auto":
        scan = preferred_scan(core)
    drives = tuple(jnp.broadcast_to(d, (*rows, d.shape[-1])) for d in drives)
    if scan == "sequential":
        return _sequential(core, p, memory, drives, starts)
    if not core.associative:
        raise BadInput(f"{type(core).__name__} has no associative scan")
    return _associative(core, p, memory, drives, starts)


def preferred_scan(core: MemoryCore) -> Literal["sequential", "associative"]:
    """The faster scan on this machine's default device, as measured (docs/memory-cores.md)."""
    return "associative" if core.associative and jax.default_backend() != "cpu" else "sequential"


def _forget(start: Any, memory: Any) -> Any:
    return jnp.where(start[..., None], 0.0, memory)


def _sequential(core: MemoryCore, p: Any, memory: Any, drives: tuple[Any, ...], starts: Any) -> Any:
    def body(memory: Any, now: Any) -> tuple[Any, Any]:
        drive, start = now
        if start is not None:
            memory = _forget(start, memory)
        memory = core.advance(JaxOps, p, memory, drive)
        return memory, memory

    return jax.lax.scan(body, memory, (drives, starts))[1]


def _associative(core: MemoryCore, p: Any, memory: Any, drives: tuple[Any, ...], starts: Any) -> Any:
    if starts is None:
        prefixes = jax.lax.associative_scan(lambda a, b: core.combine(JaxOps, a, b), drives)
        return core.advance(JaxOps, p, memory, prefixes)

    def combine(first: Any, second: Any) -> Any:
        (drive1, start1), (drive2, start2) = first, second
        joined = core.combine(JaxOps, drive1, drive2)
        kept = tuple(jnp.where(start2[..., None], new, old) for new, old in zip(drive2, joined, strict=True))
        return kept, start1 | start2

    prefixes, forgotten = jax.lax.associative_scan(combine, (drives, starts))
    return core.advance(JaxOps, p, _forget(forgotten, memory), prefixes)


def _observe(core: MemoryCore, memory: Any, observations: Any, starts: Any) -> tuple[Any, Any]:
    if type(core).observe is MemoryCore.observe:
        return memory, observations

    def body(memory: Any, now: Any) -> tuple[Any, Any]:
        observation, start = now
        if start is not None:
            memory = _forget(start, memory)
        return core.observe(JaxOps, memory, observation)

    return jax.lax.scan(body, memory, (observations, starts))


def jacobian_rank(
    family: Family, params: Mapping[str, np.ndarray], states: int = 32, seed: int = 0, tolerance: float = 1e-4
) -> int | None:
    """Largest numerical rank of d(next memory)/d(memory) - A over random states; None for cores without an A.

    Singular values of at most `tolerance` count as zero: the differentiation is float32.
    """
    core, p = family.core, family.core_parameters(to_jax(params))
    diagonal = core.diagonal(JaxOps, p)
    if diagonal is None:
        return None
    keys = jax.random.split(jax.random.key(seed), 3)
    memory = jax.random.normal(keys[0], (states, core.memory))
    code = jax.random.normal(keys[1], (states, CODE_FLOATS))
    action = jax.random.uniform(keys[2], (states, ACTION_FLOATS), minval=-1.0)

    def residual(memory: Any, code: Any, action: Any) -> Any:
        def next_memory(z: Any) -> Any:
            return core.advance(JaxOps, p, z, core.drive(JaxOps, p, code, action))

        return jax.jacobian(next_memory)(memory) - jnp.diag(diagonal)

    values = np.linalg.svd(np.asarray(jax.jit(jax.vmap(residual))(memory, code, action), np.float64), compute_uv=False)
    return int((values > tolerance).sum(axis=1).max())
