"""Everything the plan says about one table, as plain values: what `blindsave stats` prints."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from blindsave.errors import BadFile
from blindsave.evidence import strata, summaries, tables
from blindsave.evidence.intervals import adjust
from blindsave.evidence.mrmc import over_teachers, strata_by
from blindsave.evidence.plan import Plan
from blindsave.evidence.resample import REPLICATES
from blindsave.evidence.saves import Saves, saves
from blindsave.report.analysis import SplitResult, analyse_split


def statistics(
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
    _refuse_no_numbers(table)
    method = method or plan.method
    found = analyse_split(table, plan.contrasts, plan.blackout, plan.margin, replicates, method, split)
    held, whole = found.saves, found.principal
    result: dict[str, Any] = {
        "split": held.split,
        "shots": len(held.shot_ids),
        "units": len(held.units),
        "training_seeds": list(held.training_seeds()),
        "replicates": replicates,
        "method": method,
        "after_the_fact": method != plan.method,
        "margin": plan.margin,
        "rates": {
            policy: {
                str(blackout): asdict(whole.rate(policy, blackout)) | {"seedless": policy in whole.seedless}
                for blackout in whole.blackouts
            }
            for policy in whole.points
        },
        "overall": {policy: whole.overall(policy) for policy in whole.points},
        "saves_by_seed": summaries.saves_by_seed(held),
        "outcomes": summaries.outcome_counts(table),
        "faults": len(summaries.faults(table)),
        "action_mse": summaries.action_error(table),
    }
    if plan.reference in whole.points:
        result["gaps_to_reference"] = whole.gaps(plan.reference)
    if plan.blackout in whole.blackouts:
        result |= _contrasts(plan, found)
    result["subgroups"] = _groups(found.subgroups, held, ("clean",))
    if len(held.disturbances) > 1:
        result["noise"] = _noise(plan, held, strata_by(method, strata.noise(held, replicates), held))
    return result


def _refuse_no_numbers(table: pa.Table) -> None:
    """Refuse a table in which a reward or an action error is no finite number; an error may be missing, though."""
    for name in ("reward", "action_mse"):
        values = table[name].to_pylist()
        wrong = next((row for row, value in enumerate(values) if value is not None and not math.isfinite(value)), None)
        if wrong is not None:
            where = tables.key(table, wrong)
            row = ", ".join(f"{part}={value}" for part, value in where.items())
            raise BadFile(f"the episode table holds a {name} that is no finite number in the row ({row})")


def between_teachers(
    tables: Sequence[pa.Table], plan: Plan, split: str | None = None, replicates: int = REPLICATES
) -> dict[str, Any]:
    """Planned differences over several teachers' students on the same shots, with the teacher drawn by chance."""
    studies = [saves(table, split) for table in tables]
    pairs = [pair for name in ("primary", "secondary") for pair in plan.contrasts.get(name, ())]
    known = [(a, b) for a, b in pairs if all({a, b} <= one.saved.keys() for one in studies)]
    found = [over_teachers(studies, a, b, plan.blackout, plan.margin, replicates) for a, b in known]
    return {"teachers": len(studies), "between_teachers": [contrast.to_dict() for contrast in adjust(found)]}


def _contrasts(plan: Plan, found: SplitResult) -> dict[str, Any]:
    sets, whole = found.contrasts, found.principal
    pairs = [(c.a, c.b) for members in sets.values() for c in members]
    result: dict[str, Any] = {name: [c.to_dict() for c in members] for name, members in sets.items()}
    result["mcnemar"] = [asdict(row) for pair in pairs for row in found.discordances[pair]]
    base, goal = "structured_k0", "gru_n64"
    if {base, goal} <= whole.points.keys():
        families = [name for name in found.saves.families() if name not in (base, goal)]
        result["gap_recovery"] = {name: whole.gap_recovery(name, base, goal, plan.blackout) for name in families}
    return result


def _groups(result: strata.Stratified, held: Saves, disturbances: Iterable[str]) -> dict[str, Any]:
    return {
        group: {
            policy: {
                summaries.condition_name(blackout, kind): asdict(result.rate(group, policy, blackout, kind))
                for blackout in held.blackouts
                for kind in disturbances
            }
            for policy in held.saved
        }
        for group in result.points
    }


def _noise(plan: Plan, held: Saves, result: strata.Stratified) -> dict[str, Any]:
    cells = [(length, kind) for length in held.blackouts for kind in held.disturbances]
    pairs = plan.contrasts.get("noise", ())
    return {
        "rates": _groups(result, held, held.disturbances),
        "contrasts": [c.to_dict() for n, kind in cells for c in result.differences(result.points, pairs, n, kind)],
        "effects": [
            result.noise_effect(group, policy, length, kind, plan.margin).to_dict()
            for length, kind in cells
            if kind != "clean" and "clean" in held.disturbances
            for policy in held.saved
            for group in result.points
        ],
    }
