"""How long one piece of work takes: measured, and said where. `blindsave bench study` measures the machine at hand."""

from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec

TRAINING, TEACHING = "train ", "teaching"

RATES: Mapping[str, float] = {
    "arena": 6.2e-3,
    "teacher": 6.9e-3,
    "student": 5.9e-3,
    "shadow": 6.8e-3,
    "latency": 1.0e-4,
    "report": 8.0,
    TEACHING: 6.5e-2,
    "train feed_forward": 1.6e-5,
    "train finite_stack_10": 1.9e-5,
    "train structured_k0": 3.4e-5,
    "train structured_k1": 3.8e-5,
    "train structured_k2": 3.8e-5,
    "train structured_k4": 3.8e-5,
    "train gru_n64": 8.4e-5,
    "train lru_n32": 3.7e-5,
    "train mingru_n64": 4.1e-5,
    "start": 1.0,
    "per mac": 3.0e-9,
}
"""Seconds of ONE core per unit: an episode played, a timed call, a report, an episode seen once in training by one
seed, an environment step of the teacher's training; `start` is spent once per training. Processor time on one core of
an AMD EPYC server, the other core equally busy; 20,000 teacher episodes of the paper-scale run took 6.4e-3 each. The
teacher's training makes 2.4 updates/s on two such cores, 0.078 updates per step.

A family without a rate of its own takes `per mac` times its multiply-accumulates: seventeen families from 5 to 76 kMAC,
trained in C, took between 2.6e-9 and 3.5e-9, a window of 40 readings 2.1e-9."""

JAX_RATES: Mapping[str, float] = {
    "train feed_forward": 2.7e-5,
    "train finite_stack_10": 3.4e-5,
    "train structured_k0": 5.3e-5,
    "train structured_k1": 7.5e-5,
    "train structured_k2": 8.0e-5,
    "train structured_k4": 8.3e-5,
    "train gru_n64": 1.6e-4,
    "train lru_n32": 7.6e-5,
    "train mingru_n64": 9.4e-5,
    "start": 6.0,
    "per mac": 6.6e-9,
}
"""The same where students are trained with JAX, because no compiler was there to build the trainer in C. k = 0 is the
paper-scale training of its collectors, the GRU the first sixty epochs of its own (one core, low priority, beside other
work: approximate); the others were timed for a few epochs."""

GPU_RATES: Mapping[str, float] = {
    "feed_forward": 0.31e-3,
    "finite_stack_10": 0.33e-3,
    "structured_k0": 0.71e-3,
    "structured_k1": 1.74e-3,
    "structured_k2": 2.99e-3,
    "structured_k4": 3.41e-3,
    "gru_n64": 3.54e-3,
    "lru_n32": 0.86e-3,
    "mingru_n64": 0.81e-3,
}
"""Seconds of a GPU per update of five students, by family; families that are not here were never timed.

Measured on one NVIDIA H200: whole epochs of `bench train --what students`, validation included
(results/bench/students_gpu.json). Compiling takes another 6 to 19 s per training. Of the last two families only the
gradient was timed (docs/memory-cores.md); they are set to 1.48 times that, which is what k = 0 took."""
GPU_SEEDS = 5
GPU_TEACHING = 5.9e-4
"""Seconds of a GPU per environment step of the teacher's training: one whole run on an H200 with 16 cores."""
TRAINED_SHARE = 0.8
"""Eight of ten episodes are trained on; the others validate and test."""

THREADS_EXPONENT = 0.92
"""Playing on n threads is n to this power times as fast: measured 1.96 times on two cores, 12.3 times on sixteen."""


def rates_here() -> Mapping[str, float]:
    """The rates of the trainer that this installation has."""
    return RATES if find_spec("blindsave.learning._trainer") else {**RATES, **JAX_RATES}


def training_rate(unit: str, rates: Mapping[str, float] = RATES) -> float:
    """Seconds of one core per training episode seen once by one seed of the unit's family."""
    if unit in rates:
        return rates[unit]
    return rates["per mac"] * macs(unit.removeprefix(TRAINING))


def gpu_seconds(unit: str, passes: float, batch: int, rates: Mapping[str, float] = GPU_RATES) -> float | None:
    """Seconds of a GPU for a training; None for a family never timed on one."""
    if unit == TEACHING:
        return passes * GPU_TEACHING
    rate = rates.get(unit.removeprefix(TRAINING))
    return None if rate is None else passes * TRAINED_SHARE / (batch * GPU_SEEDS) * rate


@lru_cache(maxsize=1024)
def macs(name: str) -> int:
    """Multiply-accumulates of one step of a family."""
    from blindsave.policies.students.accounting import cost
    from blindsave.policies.students.registry import family

    return cost(family(name)).macs
