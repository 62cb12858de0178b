"""Plain counts from episode tables: saves by seed, outcome categories, faults."""

from typing import Any

import numpy as np
import pyarrow as pa

from blindsave.evidence.saves import Saves
from blindsave.task.outcomes import Outcome

Counts = dict[str, int]


def saves_by_seed(saves: Saves, disturbance: str = "clean") -> dict[str, dict[int, Counts]]:
    """Saves of every policy at every blackout length, by training seed (as text): `[policy][length][seed]`."""
    return {
        policy: {
            blackout: {
                str(seed): int(row.sum())
                for seed, row in zip(own, saves.at(policy, blackout, disturbance), strict=True)
            }
            for blackout in saves.blackouts
        }
        for policy, own in saves.seeds.items()
    }


def outcome_counts(table: pa.Table) -> dict[str, dict[str, Counts]]:
    """How episodes ended: `[policy][condition][outcome label]`; condition as `condition_name` writes it."""
    grouped = table.group_by(["policy", "blackout", "disturbance", "outcome"], use_threads=False)
    found: dict[str, dict[str, Counts]] = {}
    order = {outcome.label: outcome.value for outcome in Outcome}
    rows = grouped.aggregate([("save", "count")]).to_pylist()
    rows.sort(key=lambda r: (r["policy"], r["blackout"], r["disturbance"], order[r["outcome"]]))
    for row in rows:
        condition = condition_name(row["blackout"], row["disturbance"])
        cell = found.setdefault(row["policy"], {}).setdefault(condition, {})
        cell[row["outcome"]] = row["save_count"]
    return found


def condition_name(blackout: int, disturbance: str = "clean") -> str:
    """A condition as one word: "20" where clean, else "20+noise_5mm"."""
    return str(blackout) if disturbance == "clean" else f"{blackout}+{disturbance}"


def faults(table: pa.Table) -> list[dict[str, Any]]:
    """Every episode in which the simulation broke; they count as failures and must be reported."""
    labels = [outcome.label for outcome in Outcome if outcome.faulty]
    outcome = np.array(table["outcome"].to_pylist())
    return table.filter(pa.array(np.isin(outcome, labels))).to_pylist()


def action_error(table: pa.Table) -> dict[str, dict[str, float]]:
    """Mean over episodes of the mean squared distance to the teacher's action, where it was labelled."""
    labelled = table.filter(table["action_mse"].is_valid())
    if not labelled.num_rows:
        return {}
    grouped = labelled.group_by(["policy", "blackout", "disturbance"], use_threads=False)
    found: dict[str, dict[str, float]] = {}
    rows = grouped.aggregate([("action_mse", "mean")]).to_pylist()
    for row in sorted(rows, key=lambda row: (row["policy"], row["blackout"], row["disturbance"])):
        condition = condition_name(row["blackout"], row["disturbance"])
        found.setdefault(row["policy"], {})[condition] = row["action_mse_mean"]
    return found
