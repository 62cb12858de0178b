"""What `blindsave study --plan` and `bench study` print: stages, tasks, episodes and hours."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from blindsave.cli.shared import print_table
from blindsave.stages.estimate import RATES, duration, total
from blindsave.stages.scales import Scale


def planned(
    scale: Scale,
    cores: int,
    teachers: Sequence[str] = ("teacher",),
    rates: Mapping[str, float] = RATES,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything a plan says, JSON-ready; counts and times are of all teachers' studies together."""
    from blindsave import study

    stages = [replace(total([one], len(teachers)), stage=one.stage) for one in study.plan(scale, cores, rates)]
    return {
        "scale": scale.name,
        "study": scale.to_dict(),
        "teachers": list(teachers),
        "students": len(scale.families) * len(scale.training_seeds) * len(teachers),
        "planned_for": {"cores": cores},
        "plan": [one.to_dict() for one in stages],
        "total": total(stages).to_dict(),
        "warnings": list(warnings),
    }


def show_plan(result: Mapping[str, Any]) -> None:
    """Print the table, and what must be known to read it."""
    study, teachers, cores = result["study"], result["teachers"], result["planned_for"]["cores"]
    counts = [_count(len(study["families"]), "family", "families")]
    counts += [_count(len(study["training_seeds"]), "training seed", "training seeds")]
    counts += [f"{len(teachers)} teachers"] if len(teachers) > 1 else []
    title = f"{result['scale']}: {' x '.join(counts)} = {_count(result['students'], 'student', 'students')}"
    rows = [_row(one) for one in (*result["plan"], result["total"])]
    print_table(title, ["stage", "tasks", "episodes", "trained on", "CPU h", "time"], rows)
    print(f"Episodes: exact. Trained on: seen once per seed and epoch. Time: on {_count(cores, 'core', 'cores')}.")
    print("CPU h are hours of one core. Training stops early where it can: its counts and hours are upper bounds.")
    for warning in result["warnings"]:
        print(f"Note: {warning}.")


def _row(one: Mapping[str, Any]) -> list[str]:
    passes, hours = one["passes"], one["cpu_hours"]
    seen = f"{passes:,}" if passes < 1e9 else f"{passes / 1e6:,.0f} M"
    spent = f"{hours:.3f}" if hours < 1 else f"{hours:.1f}" if hours < 100 else f"{hours:,.0f}"
    return [one["stage"], f"{one['tasks']:,}", f"{one['episodes']:,}", seen, spent, duration(one["seconds"])]


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"
