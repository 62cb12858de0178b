"""Measure the finals before the test is opened: validation grid, sizes, latency."""

from typing import Any

import numpy as np

from blindsave import store
from blindsave.engine import Dispatch, Output, Task
from blindsave.policies.catalog import NamedPolicy
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site, players

VALIDATION_SHOTS = 225


def validation_tasks(scale: Scale) -> list[Task[Site]]:
    """Every final and the teacher on the validation shots, one task each."""
    amount = VALIDATION_SHOTS * len(scale.validation_blackouts)
    # A final's actions may be labelled by the teacher beside it.
    units = {True: "shadow" if scale.label_validation else "student", False: "teacher"}
    return [
        Task(f"{policy}/{seed}", play_validation, {"policy": policy, "seed": seed}, {units[seed > 0]: amount})
        for policy, seed in players(scale)
    ]


def validation(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Play the validation grid; one artifact per policy, one table."""
    from blindsave.evidence import tables

    dispatch(validation_tasks(site.scale))
    table = _validate(site, site.policies())
    path = tables.write(table, site.results / "validation" / "validation.parquet")
    return [Output((path,), result={"episodes": table.num_rows})]


def play_validation(site: Site, policy: str, seed: int) -> Output:
    """Let one policy play the validation grid."""
    _validate(site, [site.policy(policy, seed)])
    return Output()


def _validate(site: Site, policies: list[NamedPolicy]) -> Any:
    from blindsave.evidence.grid import grid
    from blindsave.evidence.schedule import schedule

    chosen = schedule("validation", site.scale.validation_blackouts)
    teacher = site.teacher_policy() if site.scale.label_validation else None
    with site.progress("validation", len(policies) * len(chosen)) as bar:
        return grid(site.work, policies, chosen, teacher=teacher, threads=site.threads, progress=bar.advance)


def efficiency(scale: Scale) -> list[Task[Site]]:
    """Sizes are counted, latency is measured."""
    calls = scale.latency_calls * (scale.latency_blocks + 1)
    timed = len(scale.families) * len(scale.training_seeds) * calls
    return [Task("efficiency", make_efficiency, cost={"latency": timed})]


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
    from blindsave.bench import latency as clock
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
