"""Everything the plan says about one table, as plain values: what `blindsave stats` prints and reports read."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from blindsave.evidence import summaries
from blindsave.evidence.intervals import adjust
from blindsave.evidence.mrmc import over_teachers, principal_by, strata_by
from blindsave.evidence.paired import mcnemar
from blindsave.evidence.plan import Plan
from blindsave.evidence.principal import Principal, principal
from blindsave.evidence.resample import REPLICATES
from blindsave.evidence.saves import Saves, saves
from blindsave.evidence.strata import Stratified, noise, subgroups


def analyse(
    table: pa.Table,
    plan: Plan,
    split: str | None = None,
    replicates: int = REPLICATES,
    method: str | None = None,
) -> dict[str, Any]:
    """Rates, differences, groups, counts and exact pairs of one split; parts that need more policies are left out.

    Rates and differences are fractions; lengths are control steps, as text where they are keys. Another `method` than
    the plan's is marked as chosen after the fact.
    """
    dense = saves(table, split)
    method = method or plan.method
    whole = principal_by(method, principal(dense, replicates=replicates), dense)
    result: dict[str, Any] = {
        "split": dense.split,
        "shots": len(dense.shot_ids),
        "units": len(dense.units),
        "training_seeds": list(dense.training_seeds()),
        "replicates": replicates,
        "method": method,
        "after_the_fact": method != plan.method,
        "margin": plan.margin,
        "rates": rates(whole),
        "overall": {policy: whole.overall(policy) for policy in whole.points},
        "saves_by_seed": summaries.saves_by_seed(dense),
        "outcomes": summaries.outcome_counts(table),
        "faults": len(summaries.faults(table)),
        "action_mse": summaries.action_error(table),
    }
    if plan.reference in whole.points:
        result["gaps_to_reference"] = whole.gaps(plan.reference)
    if plan.blackout in whole.blackouts:
        result |= _contrasts(plan, dense, whole)
    result["subgroups"] = _groups(strata_by(method, subgroups(dense, replicates), dense), dense, ("clean",))
    if len(dense.disturbances) > 1:
        result["noise"] = _noise(plan, dense, strata_by(method, noise(dense, replicates), dense))
    return result


def between_teachers(
    held: Sequence[pa.Table], plan: Plan, split: str | None = None, replicates: int = REPLICATES
) -> dict[str, Any]:
    """Planned differences over several teachers' students on the same shots, with the teacher drawn by chance."""
    studies = [saves(table, split) for table in held]
    pairs = [pair for name in ("primary", "secondary") for pair in plan.contrasts.get(name, ())]
    known = [(a, b) for a, b in pairs if all({a, b} <= one.saved.keys() for one in studies)]
    found = [over_teachers(studies, a, b, plan.blackout, plan.margin, replicates) for a, b in known]
    return {"teachers": len(studies), "between_teachers": [contrast.to_dict() for contrast in adjust(found)]}


def rates(whole: Principal) -> dict[str, dict[str, dict[str, Any]]]:
    """Save rates with intervals: `[policy][length]`; `seedless` policies are resampled over units alone."""
    return {
        policy: {
            str(blackout): asdict(whole.rate(policy, blackout)) | {"seedless": policy in whole.seedless}
            for blackout in whole.blackouts
        }
        for policy in whole.points
    }


def _contrasts(plan: Plan, dense: Saves, whole: Principal) -> dict[str, Any]:
    present = {
        name: [pair for pair in plan.contrasts.get(name, ()) if set(pair) <= whole.points.keys()]
        for name in ("primary", "secondary")
    }
    found: dict[str, Any] = {
        name: [contrast.to_dict() for contrast in whole.contrasts(pairs, plan.blackout, plan.margin)]
        for name, pairs in present.items()
    }
    pairs = [pair for group in present.values() for pair in group]
    found["mcnemar"] = [asdict(row) for a, b in pairs for row in mcnemar(dense, a, b, plan.blackout)]
    base, goal = "structured_k0", "gru_n64"
    if {base, goal} <= whole.points.keys():
        families = [name for name in dense.families() if name not in (base, goal)]
        found["gap_recovery"] = {name: whole.gap_recovery(name, base, goal, plan.blackout) for name in families}
    return found


def _groups(result: Stratified, dense: Saves, disturbances: tuple[str, ...]) -> dict[str, Any]:
    return {
        group: {
            policy: {
                summaries.condition_name(blackout, kind): asdict(result.rate(group, policy, blackout, kind))
                for blackout in dense.blackouts
                for kind in disturbances
            }
            for policy in dense.saved
        }
        for group in result.points
    }


def _noise(plan: Plan, dense: Saves, result: Stratified) -> dict[str, Any]:
    cells = [(length, kind) for length in dense.blackouts for kind in dense.disturbances]
    pairs = plan.contrasts.get("noise", ())
    return {
        "rates": _groups(result, dense, dense.disturbances),
        "contrasts": [
            contrast.to_dict()
            for length, kind in cells
            for contrast in result.differences(result.points, pairs, length, kind)
        ],
        "effects": [
            result.noise_effect(group, policy, length, kind, plan.margin).to_dict()
            for length, kind in cells
            if kind != "clean" and "clean" in dense.disturbances
            for policy in dense.saved
            for group in result.points
        ],
    }
