"""Made-up teachers with fingerprints and deficits."""

from blindsave.report.sheet import Estimate
from blindsave.report.teachers import Placed


def placed(seed: int, variance: float, deficit: float, timeouts: str = "truncate") -> Placed:
    """A teacher with a label variance, a deficit, and other traits that follow from them."""
    fingerprint = {
        "seed": seed,
        "timeouts": timeouts,
        "nearest_history": {"label_variance": variance, "p95": 10 * variance},
        "state_reset": {"5": {"drop": 20.0 + deficit}, "20": {"drop": 50.0}},
        "saves": {"deterministic": {"20": {"saves": 220 - seed % 7, "shots": 225}}},
        "roughness": {"hidden": {"change": 0.1 + variance}},
        "timing": {"halfway_ms": 300.0 - deficit},
    }
    return Placed(f"seed_{seed}", fingerprint, Estimate(deficit, deficit - 2, deficit + 3, 1, True))
