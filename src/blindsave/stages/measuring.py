"""Measure the finals before the test is opened: validation grid, sizes, latency."""

from typing import Any

import numpy as np

from blindsave import store
from blindsave.engine import Output, Task
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site

VALIDATION_SHOTS = 225


def validation(scale: Scale) -> list[Task[Site]]:
    """Every final and the teacher on the validation shots."""
    each = VALIDATION_SHOTS * len(scale.validation_blackouts)
    students = len(scale.families) * len(scale.training_seeds) * each
    return [
        Task(
            "validation",
            make_validation,
            {"shadow" if scale.label_validation else "student": students, "teacher": each},
        )
    ]


def make_validation(site: Site) -> Output:
    """Play the validation grid; one artifact per policy, one table."""
    from blindsave.evidence import tables
    from blindsave.evidence.grid import grid
    from blindsave.evidence.schedule import schedule

    chosen = schedule("validation", site.scale.validation_blackouts)
    players = site.contestants()
    teacher = site.teacher_contestant() if site.scale.label_validation else None
    with site.progress("validation", len(players) * len(chosen)) as bar:
        table = grid(site.work, players, chosen, teacher=teacher, threads=site.threads, progress=bar.advance)
    path = tables.write(table, site.results / "validation" / "validation.parquet")
    return Output((path,), result={"episodes": table.num_rows})


def efficiency(scale: Scale) -> list[Task[Site]]:
    """Sizes are counted, latency is measured."""
    calls = scale.latency_calls * (scale.latency_blocks + 1)
    return [Task("efficiency", make_efficiency, {"latency": len(scale.families) * len(scale.training_seeds) * calls})]


def make_efficiency(site: Site) -> Output:
    """Write `accounting.json` (the same everywhere) and `latency.json` (this machine's)."""
    from blindsave.policies.students.accounting import cost_table
    from blindsave.policies.students.registry import family

    known = {name: family(name) for name in site.scale.families}
    sizes = {name: dict(row) for name, row in cost_table(known).items()}
    counted = site.write_json("efficiency/accounting.json", {"families": sizes})
    timed = site.results / "efficiency" / "latency.json"
    if not timed.exists():
        store.write_json(timed, latency(site))
    # Only the paper scale binds times: elsewhere equal studies shall be equal in every bound byte.
    return Output((counted, timed) if site.scale.opens_principal_test else (counted,))


def latency(site: Site) -> dict[str, Any]:
    """One step of every final, batch one, one pinned core (docs/latency.md)."""
    from blindsave.policies import latency as clock
    from blindsave.policies.students.student import load_student

    protocol = clock.Protocol(site.scale.latency_calls, site.scale.latency_blocks, site.scale.latency_calls)
    found: dict[str, Any] = {}
    # Plain NumPy, one of the runtimes timed, computes gates with an exp that may overflow to the right limit.
    with np.errstate(over="ignore"), clock.pinned(0) as pinned, site.progress("latency", len(site.students())) as bar:
        for name in site.scale.families:
            per_seed = []
            for seed in site.scale.training_seeds:
                per_seed.append(clock.measure(load_student(site.student_file(name, seed)), protocol))
                bar.advance()
            by_seed = zip(site.scale.training_seeds, per_seed, strict=True)
            times = {str(seed): one["python"]["median"] for seed, one in by_seed}
            found[name] = clock.summarise(per_seed) | {"python_us_by_seed": times}
    facts = {"pinned": pinned, "clock": clock.clock_facts(0)}
    return {"families": found, "protocol": vars(protocol), **facts, **store.provenance()}
