"""What trainers are compared with: made-up episodes, and a student's steps over them, one after another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Episodes
from blindsave.learning.distil.native import NativeTrainer, trains_natively
from blindsave.learning.distil.trainer import Trainer
from blindsave.policies.students.family import Family
from blindsave.task.interface import ACTION_FLOATS, OBSERVATION_FLOATS


def random_episodes(lengths: Sequence[int] | np.ndarray, first_index: int = 0, seed: int = 0) -> Episodes:
    """Episodes of given lengths with random content."""
    rng = np.random.default_rng(seed)
    steps = np.asarray(lengths, np.int16)
    rows, count = int(steps.sum()), len(steps)
    widths = (OBSERVATION_FLOATS, ACTION_FLOATS, ACTION_FLOATS)
    obs, action, label = (rng.uniform(-1, 1, (rows, width)).astype(np.float32) for width in widths)
    zeros, outcome = np.zeros(count, np.int16), np.full(count, 2, np.int8)
    index, score, final = np.arange(count), np.zeros(count), np.zeros((count, OBSERVATION_FLOATS), np.float32)
    return Episodes(obs, action, label, first_index + index, index, zeros, zeros, steps, outcome, zeros, score, final)


def trainers(family: Family, data: Episodes, recipe: Recipe) -> Iterator[tuple[str, Trainer]]:
    """Everything that trains this family here, for one seed: C where it can, JAX by every scan the core has."""
    from blindsave.learning.distil.execution import execution_for
    from blindsave.learning.distil.jax_trainer import JaxTrainer

    if trains_natively(family):
        yield "trainer in C", NativeTrainer(family, data, (0,), recipe)
    for scan in ("sequential", "associative") if family.core.associative else ("sequential",):
        how = execution_for(family, "cpu", scan=scan, segment=recipe.chunk)
        yield f"JAX trainer with its {scan} scan", JaxTrainer(family, data, (0,), recipe, how)


def step_by_step(
    ops: Any,
    family: Family,
    params: Mapping[str, Any],
    data: Episodes,
    chunk: int,
    cut: Callable[[Any], Any] = lambda memory: memory,
) -> Any:
    """The slow definition of what a trainer computes: the action of every row, found one step after another.

    Every episode starts with a fresh carry and is told its recorded actions. `cut` is applied to the memory at every
    multiple of `chunk` steps, where gradients end.
    """
    size, times = family.core.memory, np.arange(data.steps.max())[:, None]
    rows = data.offsets[:-1] + np.minimum(times, data.steps - 1)  # beyond its end an episode repeats its last step
    carry, actions = np.zeros((len(data), family.carry), np.float32), []
    for t, now in enumerate(rows):
        memory = cut(carry[:, :size]) if t and t % chunk == 0 else carry[:, :size]
        told = ops.concat(memory, data.previous[now]) if family.core.recurrent else memory
        carry, action = family.step(ops, params, told, data.obs[now])
        actions.append(action)
    return ops.concat(*actions).reshape(len(data), len(rows), -1)[(times < data.steps).T]


def mean_error(data: Episodes, actions: Any, chosen: np.ndarray) -> Any:
    """The loss: the mean over the chosen episodes of their mean squared error."""
    weight = np.repeat(np.isin(np.arange(len(data)), chosen) / (len(chosen) * data.steps), data.steps)
    return (((actions - data.label) ** 2).mean(-1) * weight.astype(np.float32)).sum()
