"""What `blindsave study --plan` and `bench study` print: stages, tasks, episodes and hours."""

from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.cli.shared import print_table
from blindsave.stages.estimate import Machine, duration, total
from blindsave.stages.scales import Scale


def planned(
    scale: Scale,
    machine: Machine,
    teachers: Sequence[str] = ("teacher",),
    rates: Mapping[str, float] | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything a plan says, JSON-ready; counts and times are of all teachers' studies together."""
    from blindsave import study

    stages = [one.times(len(teachers)) for one in study.plan(scale, rates, machine)]
    return {
        "scale": scale.name,
        "study": scale.to_dict(),
        "teachers": list(teachers),
        "students": len(scale.families) * len(scale.training_seeds) * len(teachers),
        "planned_for": {"cores": machine.cores, "workers": machine.workers or machine.cores},
        "plan": [one.to_dict() for one in stages],
        "total": total(stages).to_dict(),
        "warnings": list(warnings),
    }


def show_plan(result: Mapping[str, Any]) -> None:
    """Print the table, and what must be known to read it."""
    study, machine, whole = result["study"], result["planned_for"], result["total"]
    counts = [_count(len(study["families"]), "family", "families")]
    counts += [_count(len(study["training_seeds"]), "training seed", "training seeds")]
    counts += [f"{len(result['teachers'])} teachers"] if len(result["teachers"]) > 1 else []
    title = f"{result['scale']}: {' x '.join(counts)} = {_count(result['students'], 'student', 'students')}"
    columns = ["stage", "tasks", "episodes", "trained on", "CPU h", "GPU h", "time"]
    print_table(title, columns, [_row(one) for one in (*result["plan"], whole)])
    cores = f"{machine['cores']} cores" if machine["cores"] > 1 else "one core"
    workers = (
        "" if machine["workers"] == machine["cores"] else f" with {_count(machine['workers'], 'worker', 'workers')}"
    )
    print(f"Episodes played: exact. Trained on: episodes seen, once per seed and epoch. Time: on {cores}{workers}.")
    print("CPU h are hours of one core. Training stops early where it can: its counts and hours are upper bounds.")
    if whole["gpu_unmeasured"]:
        print(f"Never timed on a GPU: {_few(whole['gpu_unmeasured'])}; hours with + leave them out.")
    for warning in result["warnings"]:
        print(f"Note: {warning}.")


def _row(one: Mapping[str, Any]) -> list[str]:
    passes = f"{one['passes']:,}" if one["passes"] < 1e9 else f"{one['passes'] / 1e6:,.0f} M"
    return [
        one["stage"],
        f"{one['tasks']:,}",
        f"{one['episodes']:,}",
        passes,
        _hours(one["cpu_hours"]),
        _gpu(one),
        duration(one["seconds"]),
    ]


def _gpu(one: Mapping[str, Any]) -> str:
    if not one["passes"] and not one["gpu_s"]:
        return ""
    if one["gpu_hours"] is None:
        return "-"
    return _hours(one["gpu_hours"]) + ("+" if one["gpu_unmeasured"] else "")


def _hours(hours: float) -> str:
    return f"{hours:.3f}" if hours < 1 else f"{hours:.1f}" if hours < 100 else f"{hours:,.0f}"


def _count(number: int, one: str, more: str) -> str:
    return f"{number:,} {one if number == 1 else more}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:8])} and {len(names) - 8} more"
