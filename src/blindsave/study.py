"""The study, as one page: what memory does a blind save take?

A robot defends an air-hockey goal. After five observations the puck disappears for up to 400 ms. A large recurrent
teacher saves nearly everything; which small memory saves as much? The stages below are the method. Each is a function
of the scale and of the stages before it; what it makes is kept by content, so the same command continues after any
crash, on any engine, and ends with the same bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.engine import Engine, EventHandler, InProcess
from blindsave.engine.machine import cores
from blindsave.errors import BadInput, BlindsaveError
from blindsave.evidence.freeze import DECIDING
from blindsave.policies.students.registry import only_here
from blindsave.stages import distillation, groundwork, measuring, reporting, sealing
from blindsave.stages.estimate import RATES, Estimate, estimate
from blindsave.stages.monitor import StageMonitor
from blindsave.stages.planning import refuse_other_plan
from blindsave.stages.records import Records, content, state
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site
from blindsave.stages.stage import Stage, perform
from blindsave.verify.study import require_verified

METHOD: tuple[Stage, ...] = (
    Stage(
        "splits",
        "Shots are drawn from fixed seeds. Four in five come in alias pairs that look alike when the puck disappears "
        "but go to opposite posts; an audit proves it, and three simple rules show how hard the task is.",
        groundwork.splits,
        here=True,
    ),
    Stage(
        "teacher",
        "One DreamerV3 agent, selected on validation shots and frozen; the shipped one unless told otherwise.",
        groundwork.teacher_tasks,
        given=groundwork.teacher_given,
    ),
    Stage(
        "memory",
        "The task needs memory: erasing the teacher's state when the puck disappears costs it its saves, and a good "
        "memoryless controller, chosen on validation shots, fails where the teacher does not.",
        groundwork.memory_tasks,
        groundwork.memory,
    ),
    Stage(
        "base",
        "The teacher plays train shots, hidden for 0 to 20 steps; its actions are labels.",
        distillation.base_tasks,
        distillation.base,
    ),
    Stage(
        "collectors",
        "Every family learns from the base episodes, one collector per seed.",
        distillation.collector_tasks,
        distillation.collectors,
    ),
    Stage(
        "shadow",
        "The collectors play. The teacher follows as their shadow and labels every step with what it would have done.",
        distillation.shadow_tasks,
        distillation.shadow,
    ),
    Stage(
        "finals",
        "New students learn from base and shadow episodes together, from scratch.",
        distillation.final_tasks,
        distillation.finals,
    ),
    Stage(
        "validation",
        "Finals and teacher meet the same validation shots at every length.",
        measuring.validation_tasks,
        measuring.validation,
    ),
    Stage(
        "efficiency",
        "Parameters, memory and multiply-adds are counted; latency is measured.",
        measuring.efficiency,
        here=True,
    ),
    Stage(
        "freeze",
        "Plan, policies, data, validation, costs and code are bound by one hash; it decides the sealed test's shots.",
        sealing.freeze,
        here=True,
    ),
    Stage(
        "release",
        "The test is opened, exactly once; the ledger says when.",
        sealing.release_tasks,
        sealing.release,
    ),
    Stage("noise", "The same question with noisy tracking.", sealing.noise_tasks, sealing.noise),
    Stage("report", "Every table, figure and sentence from the episode tables alone.", reporting.report, here=True),
)


@dataclass(frozen=True)
class Event:
    """What happened to a stage: `begun`, `ran` or `skipped`."""

    stage: Stage
    what: str
    left: Sequence[Estimate]
    """Estimates of this stage and those after it."""
    record: Mapping[str, Any] | None = None


def run(
    site: Site, engine: Engine | None = None, until: str | None = None, listen: EventHandler | None = None
) -> Iterator[Event]:
    """Run the study's stages in order, skipping those whose outputs exist and verify; `listen` hears of every task.

    A folder has one study at a time, and once its test is open only the one that opened it.
    """
    refuse_other_plan(site)
    _refuse_only_here(site, engine)
    with store.held(site.folder / "stages" / "lock", f"another study is running in {site.folder}"):
        yield from _run(site, engine, until, listen)


def _refuse_only_here(site: Site, engine: Engine | None) -> None:
    """Workers must know every family; one that only this process registered is refused before anything runs."""
    local = next((name for name in site.scale.families if only_here(name)), None)
    if local is not None and not isinstance(engine, InProcess | None):
        raise BadInput(
            f"the core of `{local}` is registered in this process only, and workers would not know it: name its file"
            " under `plugins` in the study file, install it with an entry point, or run without workers"
        )


def _run(site: Site, engine: Engine | None, until: str | None, listen: EventHandler | None) -> Iterator[Event]:
    records = Records(site.folder)
    before = store.digest({"scale": site.scale.to_dict(), "code": store.code_sha256(*DECIDING)})
    estimates = plan(site.scale)
    for number, stage in enumerate(METHOD):
        left = estimates[number:]
        given = {"given": stage.given(site)} if stage.given else {}
        key = store.digest({"stage": stage.name, "after": before, **given})
        monitor = StageMonitor(site, records, stage.name, key, stage.tasks(site.scale), listen)
        record = records.verified(stage.name, key, monitor.mend)
        if record is None:
            yield Event(stage, "begun", left)
            record = perform(site, stage, monitor, InProcess() if stage.here or engine is None else engine)
            yield Event(stage, "ran", left[1:], record)
        else:
            if stage.name == "release":
                require_verified(site.folder)
            yield Event(stage, "skipped", left[1:], record)
        before = store.digest({"after": before, stage.name: content(record)})
        if stage.name == until:
            return


def plan(scale: Scale, on: int | None = None, rates: Mapping[str, float] = RATES) -> list[Estimate]:
    """Tasks, exact episode counts and estimated time of every stage, on so many cores (this machine's by default)."""
    seeds = len(scale.training_seeds)
    return [estimate(stage.name, stage.tasks(scale), on or cores(), seeds, rates) for stage in METHOD]


def status(folder: Path) -> list[dict[str, Any]]:
    """The state of every stage of a study folder."""
    records = Records(folder)
    if not (folder / "stages").is_dir():
        raise BlindsaveError(f"{folder} holds no study")
    found = [state(records, stage.name) for stage in METHOD]
    return [_sealed(folder, one) if one["stage"] == "release" and one["state"] == "done" else one for one in found]


def _sealed(folder: Path, release: dict[str, Any]) -> dict[str, Any]:
    """The state of a finished release; damaged where what it opened, wrote or rested on no longer verifies."""
    try:
        require_verified(folder)
        return release
    except BlindsaveError as error:
        return {"stage": "release", "state": "damaged", "reason": str(error)}
