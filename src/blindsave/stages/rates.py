"""How long one piece of work takes: measured, and said where. `blindsave bench study` measures the machine at hand."""

from collections.abc import Mapping
from functools import lru_cache

TRAINING = "train "

RATES: Mapping[str, float] = {
    "arena": 6.2e-3,
    "teacher": 6.9e-3,
    "student": 5.9e-3,
    "shadow": 6.8e-3,
    "latency": 1.0e-4,
    "report": 8.0,
    "train feed_forward": 3.3e-5,
    "train finite_stack_10": 4.1e-5,
    "train structured_k0": 8.5e-5,
    "train structured_k1": 9.1e-5,
    "train structured_k2": 9.8e-5,
    "train structured_k4": 1.0e-4,
    "train gru_n64": 2.2e-4,
    "train lru_n32": 9.3e-5,
    "train mingru_n64": 1.2e-4,
    "train per mac": 8.0e-9,
}
"""Seconds of ONE core per unit: an episode played, a timed call, a report, an episode seen once in training by one
seed. Measured by `bench study` on one core of an AMD EPYC server, the other core equally busy (a tenth of the synthetic
training episodes time out, as in the second stage). The paper-scale trainings on the same cores, in a process of
low priority beside other work, took 5.4e-5 to 8.4e-5 for the collectors of k = 0 and 1.6e-4 to 2.4e-4 for the
GRU's.

A family without a rate of its own takes `per mac` times its multiply-accumulates: nine families from 7 to 128 kMAC
took between 6.5e-9 and 10.3e-9, windows and feed-forward less (4.0e-9 to 6.0e-9)."""

GPU_RATES: Mapping[str, float] = {
    "structured_k0": 0.48e-3,
    "lru_n32": 0.58e-3,
    "mingru_n64": 0.55e-3,
    "structured_k4": 2.89e-3,
    "gru_n64": 2.94e-3,
}
"""Seconds of a GPU per update of five students, by family; families that are not here were never timed.

Measured on one NVIDIA H200: the gradient of five students on 128 sequences of 64 steps (docs/memory-cores.md). It is
the largest part of an update, not a whole training, so hours from it are a lower bound."""
GPU_SEEDS = 5
TRAINED_SHARE = 0.8
"""Eight of ten episodes are trained on; the others validate and test."""

COMPILING_S = 6.0
"""Seconds to compile the training of one family and stage."""

THREADS_EXPONENT = 0.92
"""Playing on n threads is n to this power times as fast: measured 1.96 times on two cores, 12.3 times on sixteen."""


def training_rate(unit: str, rates: Mapping[str, float] = RATES) -> float:
    """Seconds of one core per training episode seen once by one seed of the unit's family."""
    if unit in rates:
        return rates[unit]
    return rates["train per mac"] * macs(unit.removeprefix(TRAINING))


def gpu_seconds(unit: str, passes: float, batch: int, rates: Mapping[str, float] = GPU_RATES) -> float | None:
    """Seconds of a GPU for a training; None for a family never timed on one."""
    rate = rates.get(unit.removeprefix(TRAINING))
    return None if rate is None else passes * TRAINED_SHARE / (batch * GPU_SEEDS) * rate


@lru_cache(maxsize=1024)
def macs(name: str) -> int:
    """Multiply-accumulates of one step of a family."""
    from blindsave.policies.students.accounting import cost
    from blindsave.policies.students.registry import family

    return cost(family(name)).macs
