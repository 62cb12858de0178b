"""Memory-horizon curves of an episode table: alias shots kept out and saved by how long the arm was held; verdicts.

Intervals and differences are those of few training seeds (multi-reader multi-case analysis, docs/statistics.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.errors import BadInput
from blindsave.evidence.hypotheses import SUPPORTED, decide
from blindsave.evidence.intervals import TEST_LEVEL, Contrast, adjust
from blindsave.evidence.mrmc import departures, difference_of, rate_ends, spread
from blindsave.evidence.plan import Plan
from blindsave.task.outcomes import Outcome
from blindsave.task.remember import KIND, milliseconds

BEFORE_CORRECTION = "before correction only"
MEASURES = ("alias_kept_out", "alias_saved", "saved")
Table = Mapping[tuple[str, int], np.ndarray]
"""(policy, hold) to what was counted, (training seeds, units)."""


def curves(table: pa.Table) -> list[dict[str, Any]]:
    """One entry per policy and hold: rates with their intervals."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for measure in MEASURES:
        counted, sizes = tabulate(table, measure)
        for (policy, hold), by_unit in counted.items():
            point, apart = departures(by_unit, sizes)
            low, high = rate_ends(np.asarray(point), spread(apart * len(sizes)), len(sizes))
            entry = found.setdefault((policy, hold), {"policy": policy, "hold": hold, "hold_ms": milliseconds(hold)})
            entry[measure] = {"estimate": point, "low": float(low), "high": float(high)}
            entry["training_seeds"] = len(by_unit)
    return [found[key] for key in sorted(found)]


def verdicts(plan: Plan, table: pa.Table) -> list[dict[str, Any]]:
    """Every hypothesis of a plan on alias shots kept out, at the hold it names; p values adjusted over all of them."""
    counted, sizes = tabulate(table, "alias_kept_out")
    found: list[Contrast] = []
    for one in plan.hypotheses:
        hold = _hold(one.disturbance)
        for name in (one.a, one.b):
            if (name, hold) not in counted:
                raise BadInput(
                    f"hypothesis {one.id} needs {name} under {one.disturbance}, which the table does not hold"
                )
        margin = plan.margin if one.margin_points is None else one.margin_points / 100
        found.append(difference_of((one.a, one.b), counted[one.a, hold], counted[one.b, hold], sizes, margin))
    return [
        {"id": one.id, "statement": one.statement, "kind": one.kind, "hold_ms": milliseconds(_hold(one.disturbance))}
        | {"verdict": _told(one.kind, contrast), "contrast": asdict(contrast)}
        for one, contrast in zip(plan.hypotheses, adjust(found), strict=True)
    ]


def _told(kind: str, contrast: Contrast) -> str:
    """The verdict; superiority that does not survive Holm's correction is no support, as in the report."""
    found = decide(kind, contrast)
    lost = kind == "superiority" and found == SUPPORTED and (contrast.p_holm or 0.0) >= TEST_LEVEL
    return BEFORE_CORRECTION if lost else found


def tabulate(table: pa.Table, measure: str) -> tuple[Table, np.ndarray]:
    """What is counted, by unit; and how many shots each unit has."""
    if measure not in MEASURES:
        raise BadInput(f"there is no measure {measure}; there are {', '.join(MEASURES)}")
    rows = table.to_pydict()
    chosen = [
        i
        for i, name in enumerate(rows["disturbance"])
        if name.startswith(f"{KIND}_") and (measure == "saved" or rows["alias_family"][i] is not None)
    ]
    if not chosen:
        raise BadInput("the table holds no rows of the memory task (conditions remember_0, remember_5, ...)")
    units = sorted({rows["unit"][i] for i in chosen})
    place = {unit: number for number, unit in enumerate(units)}
    seeds: dict[str, list[int]] = {}
    for i in chosen:
        seeds.setdefault(rows["policy"][i], []).append(rows["training_seed"][i])
    order = {policy: sorted(set(members)) for policy, members in seeds.items()}
    counted: dict[tuple[str, int], np.ndarray] = {}
    shots: list[set[str]] = [set() for _ in units]
    conceded = Outcome.GOAL_CONCEDED.label
    for i in chosen:
        policy, unit = rows["policy"][i], place[rows["unit"][i]]
        key = policy, _hold(rows["disturbance"][i])
        by_unit = counted.setdefault(key, np.zeros((len(order[policy]), len(units))))
        good = rows["outcome"][i] != conceded if measure == "alias_kept_out" else rows["save"][i]
        by_unit[order[policy].index(rows["training_seed"][i]), unit] += good
        shots[unit].add(rows["shot_id"][i])
    return counted, np.array([len(members) for members in shots])


def bars(plan: Plan, found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the plan demands of task and families, and whether it is so."""
    asked = plan.document["bars"]
    planner = min(one["saved"]["estimate"] for one in found if one["policy"] == plan.reference)
    gone = {f"{one['policy']} at {one['hold_ms']} ms": _conceded(one) for one in found if _readings_gone(one)}
    last = max(one["hold"] for one in found)
    best = {one["policy"]: _conceded(one) for one in found if one["hold"] == last and one["policy"] in plan.families}
    first = min(best, key=best.__getitem__)
    return {
        "planner_saved": {"least": planner, "met": planner >= asked["planner_saved_at_least"]},
        "without_readings_conceded": {
            "least": min(gone.values()),
            "where": min(gone, key=gone.__getitem__),
            "met": min(gone.values()) >= asked["without_readings_conceded_at_least"],
        },
        "best_conceded": {"policy": first, "rate": best[first], "met": best[first] <= asked["best_conceded_at_most"]},
    }


def _readings_gone(one: Mapping[str, Any]) -> bool:
    """From 200 ms on: no memory, or a window in which no reading is left when the arm is released."""
    core, _, size = one["policy"].rpartition("_")
    window = core == "finite_stack" and one["hold"] > int(size)
    return one["hold"] >= 10 and (one["policy"] == "feed_forward" or window)


def _conceded(one: Mapping[str, Any]) -> float:
    return 1.0 - one["alias_kept_out"]["estimate"]


def _hold(condition: str) -> int:
    return int(condition.removeprefix(f"{KIND}_"))
