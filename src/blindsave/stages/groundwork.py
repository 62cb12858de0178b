"""Before anything is learned: the shots, the teacher, and proof that the task needs memory."""

import hashlib

from blindsave import store
from blindsave.engine import Output, Task
from blindsave.errors import BlindsaveError
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site

CALIBRATED = 216 * 3
"""Episodes of the three simple rules on the calibration split."""


def splits(scale: Scale) -> list[Task[Site]]:
    """Draw the shots, audit the alias pairs, calibrate."""
    return [Task("splits", make_splits, {"arena": CALIBRATED})]


def make_splits(site: Site) -> Output:
    """Hashes of every split's launches, the alias audit and the calibration; a failed audit stops the study."""
    from blindsave.task.audit import audit
    from blindsave.task.calibrate import calibrate
    from blindsave.task.shots import SPLITS, shots

    drawn = {
        name: {
            "seed": split.seed,
            "shots": len(shots(name)),
            "launches_sha256": store.digest([[shot.id, *shot.launch] for shot in shots(name)]),
        }
        for name, split in SPLITS.items()
    }
    audited = audit()
    if not audited["passed"]:
        raise BlindsaveError("the alias audit failed: the task does not ask for memory")
    path = site.write_json("splits.json", {"splits": drawn, "audit": audited, "calibration": calibrate()})
    return Output((path,), result={"alias_families": audited["families"], "splits": len(drawn)})


def teacher(scale: Scale) -> list[Task[Site]]:
    """The frozen teacher: shipped, given, or trained here."""
    return [Task("teacher", make_teacher)]


def make_teacher(site: Site) -> Output:
    """Copy the teacher into the study, or train, select and freeze it."""
    if site.train_teacher:
        from blindsave.learning.dreamer.freeze import freeze
        from blindsave.learning.dreamer.run import train_teacher, validate_teacher

        run = site.folder / "teacher"
        train_teacher(run, threads=site.threads)
        validate_teacher(run, threads=site.threads)
        if not site.teacher_file.exists():
            freeze(run, site.teacher_file)
    else:
        content = site.teacher_source.read_bytes() if site.teacher_source.is_file() else None
        if content is None:
            raise BlindsaveError(f"there is no teacher {site.teacher_source}")
        if not site.teacher_file.exists() or site.teacher_file.read_bytes() != content:
            store.write_whole(site.teacher_file, content)
    sha256 = hashlib.sha256(site.teacher_file.read_bytes()).hexdigest()
    return Output((site.teacher_file,), result={"sha256": sha256, "trained_here": site.train_teacher})


def memory(scale: Scale) -> list[Task[Site]]:
    """State reset and memoryless control."""
    shots = scale.memory_shots or 225
    # Teacher and amnesic teacher at five lengths, the selection of a control, and its own five lengths.
    played = {"teacher": (2 * 5 + 1) * shots, "student": (3 + 5) * shots}
    return [Task("memory", make_memory, played)]


def make_memory(site: Site) -> Output:
    """Play both tests; tables and verdicts go to results/memory."""
    from blindsave.evidence.memory_stage import MemoryStage, ppo_contestants

    cost = memory(site.scale)[0].cost
    with site.progress("memory tests", int(sum(cost.values()))) as bar:
        stage = MemoryStage(
            site.work, threads=site.threads, progress=bar.advance, shots_per_split=site.scale.memory_shots
        )
        out = site.results / "memory"
        found = stage.run(site.teacher_contestant(), ppo_contestants(), out)
    names = ["state_reset.parquet", "validation.parquet", "memory.json"]
    names += ["memoryless.parquet"] if found["memoryless"] else []
    return Output(tuple(out / name for name in names), result={"passed": found["passed"]})
