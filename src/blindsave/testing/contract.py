"""The memory-core contract as checks anyone can run on their own core.

    from blindsave.testing.contract import check_core
    check_core("my_core", MyCore())

Each check raises AssertionError with one sentence; `CHECKS` lists them for use with pytest.mark.parametrize. The checks
of training need JAX; everything is small enough to run in seconds.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.arithmetic import Array
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.policies.native import ProgramPolicy, paths
from blindsave.policies.students.core import CODE_FLOATS, MemoryCore
from blindsave.policies.students.family import Family

STEPS, BATCH = 8, 3
TOLERANCE = 2e-5
"""Allowed difference between JAX's kernels and the canonical arithmetic, in actions."""


def randomised_params(family: Family, seed: int) -> dict[str, Array]:
    """Parameters with nonzero biases, so that no term of a core hides behind a zero."""
    rng = np.random.default_rng(seed)
    params = family.init(seed)
    return {
        name: array + (0.1 * rng.normal(size=array.shape)).astype(np.float32) * (array == 0)
        for name, array in params.items()
    }


def observations(steps: int, batch: int, seed: int = 0) -> Array:
    """Random observations (T, B, 19) in [-1, 1]."""
    shape = (steps, batch, OBSERVATION_FLOATS)
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(np.float32)


def closed_loop(step: Callable[[Any, Any], tuple[Any, Any]], carry: Any, seen: Array) -> tuple[Any, Array]:
    """Run a step function over a sequence: the last carry and the actions (T, B, 2)."""
    actions = []
    for observation in seen:
        carry, action = step(carry, observation)
        actions.append(np.asarray(action))
    return carry, np.stack(actions)


def _shifted(actions: Array) -> Array:
    """The previous actions of a closed loop: zeros first."""
    return np.concatenate((np.zeros_like(actions[:1]), actions[:-1]))


def _fresh(family: Family, batch: int = BATCH) -> Array:
    return np.zeros((batch, family.carry), np.float32)


def _reference(family: Family, params: dict[str, Array]) -> Callable[[Any, Any], tuple[Any, Any]]:
    return lambda carry, observation: family.step(arithmetic, params, carry, observation)


def _fresh_memory(family: Family) -> Array:
    return np.zeros((BATCH, family.core.memory), np.float32)


def _scans(family: Family) -> tuple[Any, ...]:
    return ("sequential", "associative") if family.core.associative else ("sequential",)


def _jitted(family: Family, scan: Any) -> Callable[..., tuple[Any, Any]]:
    """The training forward pass: (params, memory, observations, previous actions, starts) to (memory, actions)."""
    import jax

    from blindsave.policies.students import training

    return jax.jit(functools.partial(training.forward, family, scan=scan))


def check_sizes(family: Family) -> None:
    """A step returns a carry and an action of the declared sizes, and nothing is NaN."""
    carry, actions = closed_loop(
        _reference(family, randomised_params(family, 1)), _fresh(family), observations(STEPS, BATCH)
    )
    assert carry.shape == (BATCH, family.carry), f"the carry has shape {carry.shape}"
    assert actions.shape == (STEPS, BATCH, ACTION_FLOATS), f"the actions have shape {actions.shape}"
    assert np.isfinite(actions).all() and np.isfinite(carry).all(), "a step made a value that is not finite"
    assert np.abs(actions).max() <= 1.0, "an action left [-1, 1]"


def check_deterministic_init(family: Family) -> None:
    """Equal seeds give equal parameters, different seeds different ones, all float32 and finite."""
    one, again, other = family.init(7), family.init(7), family.init(8)
    assert all(np.array_equal(one[n], again[n]) for n in one), "one seed gave two sets of parameters"
    assert any(not np.array_equal(one[n], other[n]) for n in one), "two seeds gave the same parameters"
    assert all(a.dtype == np.float32 and np.isfinite(a).all() for a in one.values()), "a parameter is not float32"


def check_step_equals_scan(family: Family) -> None:
    """Teacher-forced sequences in JAX, by every scan the core has, equal the closed loop step by step."""
    params, seen = randomised_params(family, 2), observations(STEPS, BATCH)
    carry, actions = closed_loop(_reference(family, params), _fresh(family), seen)
    for scan in _scans(family):
        memory, predicted = _jitted(family, scan)(params, _fresh_memory(family), seen, _shifted(actions), None)
        worst = float(np.abs(np.asarray(predicted) - actions).max())
        assert worst <= TOLERANCE, f"the {scan} scan differs from the steps by {worst:.1e}"
        expected = carry[:, : family.core.memory]
        np.testing.assert_allclose(memory, expected, rtol=1e-4, atol=1e-4, err_msg=f"memory after the {scan} scan")


def check_packed_equals_separate(family: Family) -> None:
    """Two episodes on one tape with a start flag equal the same episodes alone, by every scan."""
    params, first, seen = randomised_params(family, 3), STEPS // 2, observations(STEPS, BATCH)
    previous = observations(STEPS, BATCH, seed=1)[..., :ACTION_FLOATS]
    starts = np.zeros((STEPS, BATCH), bool)
    starts[[0, first]] = True
    for scan in _scans(family):
        run, fresh = _jitted(family, scan), _fresh_memory(family)
        parts = slice(0, first), slice(first, STEPS)
        alone = np.concatenate([run(params, fresh, seen[part], previous[part], None)[1] for part in parts])
        packed = run(params, fresh + 3.0, seen, previous, starts)[1]  # the first start forgets the 3.0 as well
        np.testing.assert_allclose(packed, alone, atol=TOLERANCE, err_msg=f"packed episodes in the {scan} scan")


def check_fresh_carry_is_reset(family: Family) -> None:
    """After any past, a zero carry gives the bits of a first step."""
    policy, seen = ProgramPolicy(family.name, family.program(randomised_params(family, 4))), observations(STEPS, BATCH)
    first = policy.step(policy.initial(BATCH), seen[0])
    closed_loop(policy.step, policy.initial(BATCH), seen)
    again = policy.step(policy.initial(BATCH), seen[0])
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True)), "a fresh carry remembers something"


def check_history_matters(family: Family) -> None:
    """Different pasts give different actions on the same observation; without memory they give the same."""
    step, seen = _reference(family, randomised_params(family, 5)), observations(STEPS, BATCH)
    _, one = closed_loop(step, _fresh(family), seen)
    _, two = closed_loop(step, _fresh(family), np.concatenate((-seen[:-1], seen[-1:])))
    if family.carry:
        assert (one[-1] != two[-1]).any(axis=-1).all(), "the past does not matter, though there is a carry"
    else:
        assert np.array_equal(one[-1], two[-1]), "the past matters without a carry"


def check_rows_are_independent(family: Family) -> None:
    """A row's bits do not depend on the other rows or on their number, in the reference and in the kernel."""
    program, seen = family.program(randomised_params(family, 6)), observations(STEPS, BATCH)
    for run in (program.run, ProgramPolicy(family.name, program).step):
        _, together = closed_loop(run, _fresh(family), seen)
        _, alone = closed_loop(run, _fresh(family, 1), seen[:, 1:2])
        assert np.array_equal(together[:, 1:2], alone), "a row depends on its neighbours"


def check_gradients(family: Family) -> None:
    """Every parameter has a finite gradient, and no parameter is dead."""
    import jax

    steps = STEPS // 2
    seen, previous = observations(steps, BATCH), observations(steps, BATCH, seed=1)[..., :ACTION_FLOATS]
    for scan in _scans(family):
        run = _jitted(family, scan)

        def loss(params: Any, run: Any = run) -> Any:
            return (run(params, _fresh_memory(family), seen, previous, None)[1] ** 2).mean()

        for name, gradient in jax.jit(jax.grad(loss))(randomised_params(family, 7)).items():
            assert np.isfinite(gradient).all(), f"the gradient of `{name}` is not finite"
            assert np.any(np.asarray(gradient) != 0), f"`{name}` has no influence on the actions"


def check_combine_is_associative(family: Family) -> None:
    """For cores with `combine`: (a b) c equals a (b c), and combined steps equal steps in turn."""
    core: MemoryCore = family.core
    if not core.associative:
        return
    p, rng = family.core_parameters(randomised_params(family, 8)), np.random.default_rng(0)

    def vector(size: int) -> Array:
        return rng.normal(size=size).astype(np.float32)

    a, b, c = (core.drive(arithmetic, p, vector(CODE_FLOATS), vector(ACTION_FLOATS)) for _ in range(3))
    left = core.combine(arithmetic, core.combine(arithmetic, a, b), c)
    right = core.combine(arithmetic, a, core.combine(arithmetic, b, c))
    for x, y in zip(left, right, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5, err_msg="combine is not associative")
    memory = vector(core.memory)
    turn = memory
    for drive in (a, b, c):
        turn = core.advance(arithmetic, p, turn, drive)
    np.testing.assert_allclose(core.advance(arithmetic, p, memory, left), turn, rtol=1e-4, atol=1e-4)


def check_bits(family: Family, draws: int = 2, steps: int = 100) -> None:
    """Program, direct NumPy steps and every vector path of the C kernel agree in every bit of a closed loop."""
    for draw in range(draws):
        params = randomised_params(family, draw)
        program, seen = family.program(params), observations(steps, 1, seed=draw)
        carries, actions = recorded(ProgramPolicy(family.name, program), seen)
        for path in paths():
            other = recorded(ProgramPolicy(family.name, program, path), seen)
            assert same_bits((carries, actions), other), f"the vector path {path} computes other bits"
        # Each step of the reference from the recorded carry: by induction the whole closed loop.
        before = np.concatenate((np.zeros_like(carries[:1]), carries[:-1]))
        for run in (program.run, _reference(family, params)):
            assert same_bits((carries, actions), run(before, seen[:, 0])), "the reference computes other bits"


def recorded(policy: ProgramPolicy, seen: Array) -> tuple[Array, Array]:
    """Carries and actions after every step of one closed loop over observations (T, 1, 19)."""
    carry, carries, actions = policy.initial(1), [], []
    for observation in seen:
        carry, action = policy.step(carry, observation)
        carries.append(carry[0])
        actions.append(action[0])
    return np.stack(carries), np.stack(actions)


def same_bits(one: tuple[Array, ...], two: tuple[Array, ...]) -> bool:
    """Are all float32 arrays equal as bit patterns?"""
    return all(a.dtype == b.dtype == np.float32 and a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


CHECKS: tuple[Callable[[Family], None], ...] = (
    check_sizes,
    check_deterministic_init,
    check_step_equals_scan,
    check_packed_equals_separate,
    check_fresh_carry_is_reset,
    check_history_matters,
    check_rows_are_independent,
    check_gradients,
    check_combine_is_associative,
    check_bits,
)


def check_core(name: str, core: MemoryCore) -> None:
    """Run every check on a core that need not be registered."""
    for check in CHECKS:
        check(Family(name, core))
