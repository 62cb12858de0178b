"""Two single policies on the same shots: the paired episode bootstrap of the memory tests, and exact McNemar."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from blindsave.errors import BadInput
from blindsave.evidence.intervals import MARGIN, Contrast, contrast
from blindsave.evidence.resample import REPLICATES, counts
from blindsave.evidence.saves import Saves

CAUSAL_SEED = 11303
MEMORYLESS_SEED = 15303


@dataclass(frozen=True)
class Discordance:
    """Exact paired counts: shots only `a` saved, shots only `b` saved, both, neither; and the exact p."""

    a: str
    b: str
    training_seed: int
    blackout: int
    only_a: int
    only_b: int
    both: int
    neither: int
    p: float


def paired(
    saves: Saves,
    a: str,
    b: str,
    seed: int,
    *,
    disturbance: str = "clean",
    replicates: int = REPLICATES,
    margin: float = MARGIN,
) -> list[Contrast]:
    """`a` minus `b` at every length, resampling paired episodes (sorted by shot id).

    Both must be single policies: one row each. One generator serves all lengths, shortest first.
    """
    for name in (a, b):
        if len(saves.seeds.get(name, ())) > 1:
            raise BadInput(f"{name} has several training seeds; the paired bootstrap compares single policies")
    rng = np.random.default_rng(seed)
    found = []
    for blackout in sorted(saves.blackouts):
        one, other = (saves.at(name, blackout, disturbance)[0].astype(float) for name in (a, b))
        difference = one - other
        draws = rng.integers(0, len(difference), size=(replicates, len(difference)))
        sums = counts(draws, len(difference)) @ difference
        resampled = sums / len(difference)
        estimate = float(difference.sum() / len(difference))
        found.append(contrast((a, b), blackout, estimate, resampled, margin=margin, disturbance=disturbance))
    return found


def mcnemar(saves: Saves, a: str, b: str, blackout: int, disturbance: str = "clean") -> list[Discordance]:
    """Exact McNemar counts, one per training seed (a seedless policy is paired with every seed of the other).

    The p-values treat shots as independent and condition on the trained networks; they are exact for the two
    networks compared, and say nothing of other training seeds.
    """
    one, other = saves.at(a, blackout, disturbance), saves.at(b, blackout, disturbance)
    rows = max(len(one), len(other))
    if min(len(one), len(other)) not in (1, rows):
        raise BadInput(f"{a} and {b} have different numbers of training seeds and cannot be paired")
    seeds = saves.seeds[a] if len(one) == rows else saves.seeds[b]
    one, other = np.broadcast_arrays(one, other) if len(one) != len(other) else (one, other)
    return [_discordance(a, b, seed, blackout, x, y) for seed, x, y in zip(seeds, one, other, strict=True)]


def exact_two_sided(successes: int, failures: int) -> float:
    """Exact two-sided binomial p of a fair coin (the smaller tail twice), computed in whole numbers."""
    n = successes + failures
    tail = sum(comb(n, k) for k in range(min(successes, failures) + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def _discordance(a: str, b: str, seed: int, blackout: int, one: np.ndarray, other: np.ndarray) -> Discordance:
    only_a, only_b = int((one & ~other).sum()), int((other & ~one).sum())
    both, neither = int((one & other).sum()), int((~one & ~other).sum())
    p = exact_two_sided(only_a, only_b)
    return Discordance(a, b, seed, blackout, only_a, only_b, both, neither, p)
