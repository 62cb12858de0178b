"""Before anything is learned: the shots, the teacher, and proof that the task needs memory."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.engine import Dispatch, Output, Task
from blindsave.errors import BadFile, BlindsaveError
from blindsave.policies.named import teacher_content
from blindsave.stages.estimate import TEACHING
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site

CALIBRATED = 216 * 3
"""Episodes of the three simple rules on the calibration split."""
CANDIDATES = 3
"""Memoryless controllers that are shipped; one is chosen on validation shots."""


def splits(scale: Scale) -> list[Task[Site]]:
    """Draw the shots, audit the alias pairs, calibrate."""
    return [Task("splits", make_splits, cost={"arena": CALIBRATED})]


def make_splits(site: Site) -> Output:
    """Hashes of every split's launches, the alias audit and the calibration; a failed audit stops the study."""
    from blindsave.evidence.calibrate import calibrate
    from blindsave.task.audit import audit
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


def teacher_tasks(scale: Scale) -> list[Task[Site]]:
    """The frozen teacher: shipped or given, which takes nothing; or trained here, which takes a whole machine."""
    cost = {TEACHING: scale.teacher_steps} if scale.train_teacher else {}
    return [Task("teacher", make_teacher, cost=cost, exclusive=scale.train_teacher)]


def teacher_given(site: Site) -> str | None:
    """Which teacher file the study begins with, by content; none where it trains its own."""
    if site.scale.train_teacher:
        return None
    try:
        return hashlib.sha256(teacher_content(site.teacher_source)).hexdigest()
    except BlindsaveError:  # the stage will say so
        return None


def make_teacher(site: Site) -> Output:
    """Copy the teacher into the study, or train, select and freeze it."""
    source = _train_teacher(site) if site.scale.train_teacher else site.teacher_source
    content = teacher_content(source)
    site.publish(site.teacher_file, content)
    sha256 = hashlib.sha256(content).hexdigest()
    return Output((site.teacher_file,), result={"sha256": sha256, "trained_here": site.scale.train_teacher})


def _train_teacher(site: Site) -> Path:
    """Train a teacher in the study's folder, select it on validation shots and freeze it there."""
    from blindsave.learning.dreamer.freeze import freeze
    from blindsave.learning.dreamer.run import train_teacher, validate_teacher

    run, steps = site.folder / "teacher", site.scale.teacher_steps
    frozen = run / "teacher.safetensors"
    if frozen.is_file():
        return frozen
    if site.ledger.last("opening") is not None:  # said before hours of training, not after
        raise BadFile(f"the test of {site.folder} was opened with another teacher: use another --folder")
    with site.progress("teacher", steps) as bar:

        def trained(line: Mapping[str, Any]) -> None:
            saved = f"saves {100 * line['saved']:.0f} %, " if "saved" in line else ""
            bar.at(line["step"], f"{saved}{line['updates_per_s']:.1f} updates/s")

        def validated(row: Mapping[str, Any]) -> None:
            bar.at(steps, f"step {row['step']:,} saves {100 * row['save_rate']:.1f} % of validation shots")

        every = min(20_000, steps)
        train_teacher(run, steps=steps, checkpoint_every=every, threads=site.threads, quiet=True, watch=trained)
        validate_teacher(run, threads=site.threads, watch=validated)
    freeze(run, frozen)
    return frozen


def memory_tasks(scale: Scale) -> list[Task[Site]]:
    """State reset and memoryless control: one task per grid; the last, the chosen control's, waits for the others."""
    from blindsave.evidence.memory import LENGTHS

    shots = scale.memory_shots or 225
    grids = [("teacher", "test"), ("teacher_reset", "test"), ("teacher", "validation")]
    amount = {"test": len(LENGTHS) * shots, "validation": shots}
    played = [
        Task(f"{who}, {split}", play_memory, {"who": who, "split": split}, {"teacher": amount[split]})
        for who, split in grids
    ]
    controls = [
        Task(f"control {number}", play_candidate, {"number": number}, {"student": amount["validation"]})
        for number in range(CANDIDATES)
    ]
    return [*played, *controls, Task("the chosen control", play_control, {}, {"student": amount["test"]})]


def memory(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Play both tests; tables and verdicts go to results/memory."""
    *grids, chosen = memory_tasks(site.scale)
    dispatch(grids)
    dispatch([chosen])
    out = site.results / "memory"
    found = _memory_stage(site).run(site.teacher_policy(), _candidates(), out)
    names = ["state_reset.parquet", "validation.parquet", "memory.json"]
    names += ["memoryless.parquet"] if found["memoryless"] else []
    return [Output(tuple(out / name for name in names), result={"passed": found["passed"]})]


def play_memory(site: Site, who: str, split: str) -> Output:
    """Let the teacher, with or without its memory, play its grid of a split."""
    from blindsave.evidence.memory import LENGTHS
    from blindsave.evidence.memory_stage import VISIBLE, with_reset

    teacher = site.teacher_policy()
    lengths = LENGTHS if split == "test" else VISIBLE
    _memory_stage(site).play([teacher if who == "teacher" else with_reset(teacher)], split, lengths)
    return Output()


def play_candidate(site: Site, number: int) -> Output:
    """Let one memoryless candidate play what decides about it; nothing to do where there are fewer."""
    from blindsave.evidence.memory_stage import SELECTION_SPLIT, VISIBLE

    for candidate in _candidates()[number : number + 1]:
        _memory_stage(site).play([candidate], SELECTION_SPLIT, VISIBLE)
    return Output()


def play_control(site: Site) -> Output:
    """Choose the memoryless control, and let it play the test grid if it qualifies."""
    from blindsave.evidence.memory import LENGTHS
    from blindsave.evidence.memory_stage import TEST_SPLIT

    chosen = _memory_stage(site).choose(_candidates(), site.teacher_policy())
    if chosen is not None:
        _memory_stage(site).play([chosen], TEST_SPLIT, LENGTHS)
    return Output()


def _candidates() -> Any:
    from blindsave.evidence.memory_stage import controls

    return controls()


def _memory_stage(site: Site) -> Any:
    from blindsave.evidence.memory_stage import MemoryStage

    shots = site.scale.memory_shots
    bar = site.progress("memory tests", shots or 225)
    return MemoryStage(site.work, threads=site.threads, progress=bar.advance, shots_per_split=shots)
