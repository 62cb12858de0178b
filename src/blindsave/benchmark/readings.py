"""What one reads off a memory-horizon curve: milliseconds and bits."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

ENOUGH = 0.9
"""Share of alias shots kept out up to which a memory is said to reach."""


def horizon_ms(curve: Mapping[str, Any], enough: float = ENOUGH) -> int | None:
    """The longest hold up to which, at every stop, `enough` of the alias shots are kept out; None: at none."""
    reached = None
    for hold, point in zip(curve["hold_ms"], curve["alias_kept_out"], strict=True):
        if point["rate"] < enough:
            break
        reached = int(hold)
    return reached


def bits(kept_out: float) -> float:
    """How much of the one bit "which post" is left: 1 - H(kept out); a coin and anything worse know nothing."""
    if kept_out <= 0.5:
        return 0.0
    wrong = 1.0 - kept_out
    return 1.0 + (wrong * math.log2(wrong) if wrong else 0.0) + kept_out * math.log2(kept_out)


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """The few numbers by which cores are compared at a glance."""
    held, paper, faults = found["horizon"], found["paper"], found["faults"]
    rates: Sequence[float] = [point["rate"] for point in faults["saved"]]
    worst = min(range(len(rates)), key=rates.__getitem__)
    at = paper["hidden_ms"].index(400) if 400 in paper["hidden_ms"] else -1
    return {
        "core": found["core"],
        "parameters": found["cost"]["parameters"] if found["cost"] else None,
        "carry_bytes": found["cost"]["carry_bytes"] if found["cost"] else None,
        "horizon_ms": horizon_ms(held),
        "bits": [round(bits(point["rate"]), 3) for point in held["alias_kept_out"]],
        "hidden_ms": paper["hidden_ms"][at],
        "saved": paper["saved"][at]["rate"],
        "worst_fault": faults["faults"][worst],
        "worst_fault_saved": rates[worst],
    }
