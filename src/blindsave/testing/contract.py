"""The memory-core contract as checks anyone can run on their own core.

    from blindsave.testing import check_core
    check_core("my_core", MyCore())

Each check raises AssertionError with one sentence; `CHECKS` lists them for use with pytest.mark.parametrize. The checks
of training run the trainers themselves, in C and in JAX, and need JAX; everything is small enough to run in seconds.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.state import fresh_state
from blindsave.learning.distil.table import split
from blindsave.policies import arithmetic
from blindsave.policies.arithmetic import Array
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.policies.native import ProgramPolicy, paths
from blindsave.policies.students.core import MemoryCore
from blindsave.policies.students.family import Family
from blindsave.testing.training import mean_error, random_episodes, step_by_step, trainers

STEPS, BATCH = 8, 3
TOLERANCE = 2e-5
"""Allowed difference (root of the mean square) between a trainer's arithmetic and the canonical one, in actions."""
LENGTHS = (7, 1, 4, 7, 5, 6, 2, 3, 6, 3, 3, 6, 2, 4, 7, 1, 5, 4, 7, 6)
"""Of the episodes trained on, which lie one after another in one table: shorter and longer than a chunk."""
WHOLE = Recipe(epochs=1, batch=len(LENGTHS), chunk=4, clip=1e9)
"""One update from all episodes with the gradient as it is."""
FIRST_SHARE = 0.1
"""Of a gradient in the first moment of AdamW after one update."""


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


def _fresh(family: Family, batch: int = BATCH) -> Array:
    return np.zeros((batch, family.carry), np.float32)


def _reference(family: Family, params: dict[str, Array]) -> Callable[[Any, Any], tuple[Any, Any]]:
    return lambda carry, observation: family.step(arithmetic, params, carry, observation)


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


def check_training_equals_steps(family: Family) -> None:
    """Every trainer's actions, over episodes that begin anywhere in its table, are those of the steps in turn."""
    params, data = randomised_params(family, 2), random_episodes(LENGTHS)
    data = replace(data, label=step_by_step(arithmetic, family, params, data, WHOLE.chunk))
    for name, trainer in trainers(family, data, WHOLE):
        error = float(np.sqrt(trainer.evaluate(fresh_state([params]).params, "train")[0]))
        assert error <= TOLERANCE, f"the {name} differs from the steps by {error:.1e}"


def check_gradients(family: Family) -> None:
    """Every trainer's loss and gradient are those of the steps in turn; all are finite, and no parameter is dead."""
    import jax

    from blindsave.learning.distil.jax_ops import JaxOps

    params, data = randomised_params(family, 7), random_episodes(LENGTHS)

    def loss(params: Any) -> Any:
        actions = step_by_step(JaxOps, family, params, data, WHOLE.chunk, jax.lax.stop_gradient)
        return mean_error(data, actions, split(data)["train"])

    every = list(trainers(family, data, WHOLE))
    expected, slopes = jax.value_and_grad(loss)(params)
    largest = max(float(np.abs(slope).max(initial=0)) for slope in slopes.values())
    for name, trainer in every:
        _, moments, metrics = trainer.train(fresh_state([params]), trainer.batches(1))
        np.testing.assert_allclose(metrics.train_loss[0], expected, rtol=1e-4, err_msg=f"loss of the {name}")
        for parameter, slope in slopes.items():
            gradient = np.asarray(moments.first[parameter][0]) / FIRST_SHARE
            assert np.isfinite(gradient).all(), f"the gradient of `{parameter}` is not finite in the {name}"
            assert gradient.any(), f"`{parameter}` has no influence on the actions in the {name}"
            wrong = f"gradient of `{parameter}` in the {name}"
            np.testing.assert_allclose(gradient, slope, rtol=2e-3, atol=2e-5 * largest, err_msg=wrong)


def check_reset_of_one_episode(family: Family) -> None:
    """A zeroed carry gives the bits of a fresh episode, and the neighbours go on as if nothing had happened."""
    policy, seen = ProgramPolicy(family.name, family.program(randomised_params(family, 4))), observations(STEPS, BATCH)
    half = STEPS // 2
    carry, _ = closed_loop(policy.step, policy.initial(BATCH), seen[:half])
    _, undisturbed = closed_loop(policy.step, carry, seen[half:])
    _, fresh = closed_loop(policy.step, policy.initial(BATCH), seen[half:])
    carry[1] = 0.0
    _, actions = closed_loop(policy.step, carry, seen[half:])
    assert np.array_equal(actions[:, 1], fresh[:, 1]), "a fresh carry remembers something"
    assert np.array_equal(actions[:, ::2], undisturbed[:, ::2]), "the reset of an episode touches its neighbours"


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


def check_combine_is_associative(family: Family) -> None:
    """For cores with `combine`: (a b) c equals a (b c), and combined steps equal steps in turn."""
    core: MemoryCore = family.core
    if not core.associative:
        return
    p, rng = family.core_parameters(randomised_params(family, 8)), np.random.default_rng(0)

    def vector(size: int) -> Array:
        return rng.normal(size=size).astype(np.float32)

    a, b, c = (core.drive(arithmetic, p, vector(core.code), vector(ACTION_FLOATS)) for _ in range(3))
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
    """What is exported (the program), the core's own steps and every vector path of the C kernel agree in every bit."""
    for draw in range(draws):
        params = randomised_params(family, draw)
        program, seen = family.program(params), observations(steps, 1, seed=draw)[:, 0]
        carries, actions = ProgramPolicy(family.name, program).unroll(seen)
        for path in paths():
            other = ProgramPolicy(family.name, program, path).unroll(seen)
            assert same_bits((carries, actions), other), f"the vector path {path} computes other bits"
        # Each step of the reference from the recorded carry: by induction the whole closed loop.
        before = np.concatenate((np.zeros_like(carries[:1]), carries[:-1]))
        for run in (program.run, _reference(family, params)):
            assert same_bits((carries, actions), run(before, seen)), "the reference computes other bits"


def same_bits(one: tuple[Array, ...], two: tuple[Array, ...]) -> bool:
    """Are all float32 arrays equal as bit patterns?"""
    return all(a.dtype == b.dtype == np.float32 and a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


CHECKS: tuple[Callable[[Family], None], ...] = (
    check_sizes,
    check_deterministic_init,
    check_training_equals_steps,
    check_gradients,
    check_reset_of_one_episode,
    check_history_matters,
    check_rows_are_independent,
    check_combine_is_associative,
    check_bits,
)


def check_core(name: str, core: MemoryCore) -> None:
    """Run every check on a core that need not be registered."""
    for check in CHECKS:
        check(Family(name, core))
