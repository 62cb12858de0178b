"""The study: a smoke run end to end, resume after kills, damage, status and plan."""

import errno
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import tiny_study

from blindsave import cli, store, study
from blindsave.errors import BadFile, BadInput, BlindsaveError, DiskFull
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.elsewhere import OtherEpisodesError
from blindsave.policies import catalog
from blindsave.progress import redirect_progress
from blindsave.stages import faults, groundwork
from blindsave.stages.importing import import_trainings, open_pipeline
from blindsave.stages.records import Records
from blindsave.stages.reporting import DATED
from blindsave.stages.scales import PAPER, QUICK, SCALES
from blindsave.store import artifacts, writing

NAMES = [stage.name for stage in study.METHOD]


COMPARED = {
    "protocol.toml",
    "results/memory/state_reset.parquet",
    "results/memory/memoryless.parquet",
    "results/validation/validation.parquet",
    "results/test/sealed_test.parquet",
    "results/report/tables/save-rates.csv",
    "results/report/tables/seeds.csv",
}
"""Some of what must be equal to the byte, so that the comparison cannot become empty unnoticed."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """An uninterrupted tiny study."""
    folder = tmp_path_factory.mktemp("study") / "tiny"
    for _ in study.run(tiny_study.site(folder)):
        pass
    return folder


def begun(finished: Path, folder: Path, *stages: str) -> Path:
    """A study folder in which some stages are already done."""
    for stage in stages:
        record = json.loads((finished / "stages" / f"{stage}.json").read_text())
        for name in (f"stages/{stage}.json", *record["files"]):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(finished / name, folder / name)
    return folder


def results(folder: Path) -> dict[str, bytes]:
    """Everything that must not depend on when and where: episode tables, report tables, policies, plan."""
    found = [*folder.glob("results/**/*.parquet"), *folder.glob("models/**/*.safetensors"), *folder.glob("*.toml")]
    found += [p for p in folder.glob("results/report/tables/*") if p.stem not in DATED]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_study_killed_again_and_again_ends_with_the_same_bytes(finished, tmp_path):
    rng, folder, kills = random.Random(7303), begun(finished, tmp_path / "killed", "splits", "teacher"), 0
    for _ in range(4):
        command = [sys.executable, str(SCRIPT), str(folder), "here", str(rng.randint(3, 24))]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        kills += done.returncode == -signal.SIGKILL
    assert kills >= 3
    for _ in study.run(tiny_study.site(folder)):
        pass
    expected, found = results(finished), results(folder)
    assert {Path(name).suffix for name in expected} == {".parquet", ".safetensors", ".toml", ".md", ".tex", ".csv"}
    assert expected.keys() >= COMPARED
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []


ENGINES = ("workers", "ray")
SCRIPT = Path(tiny_study.__file__)


TABLES = {name for name in COMPARED if not name.startswith("results/report")}


@pytest.mark.parametrize(("engine", "until", "compared"), [("workers", "report", COMPARED), ("ray", "noise", TABLES)])
def test_every_engine_gives_the_same_bytes(finished, tmp_path, engine, until, compared):
    """The report is made by the same process on every engine: once is enough."""
    folder = begun(finished, tmp_path / "study", "splits", "teacher")
    command = [sys.executable, "-W", "error", str(SCRIPT), str(folder), engine, until]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    expected, found = results(finished), results(folder)
    assert found.keys() >= compared
    assert [name for name in found if found[name] != expected[name]] == []
    assert until != "report" or found.keys() == expected.keys()
    assert not faults.read_faults(folder)
    assert not (list(folder.rglob(f"{store.TEMPORARY}*")) + list(folder.glob("work/shard/*")))


DEATHS = (2, 11, 5, 14, 8)
"""At which of their renames workers are killed, in the order in which they ask."""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_study_whose_workers_are_killed_gives_the_same_bytes(finished, tmp_path, engine):
    folder, tokens = begun(finished, tmp_path / "study", "splits", "teacher"), tmp_path / "tokens"
    tokens.mkdir()
    for number, count in enumerate(DEATHS):
        (tokens / f"{number}-{count}.token").touch()
    path = os.pathsep.join(map(str, (SCRIPT.parent / "chaos", SCRIPT.parent, os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(folder), engine, "validation"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "CHAOS_TOKENS": str(tokens)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    deaths, survived = list(tokens.glob("*.death")), faults.read_faults(folder)
    assert len(survived) == len(deaths) >= 3
    assert len({fault["stage"] for fault in survived}) > 1
    assert all(f"blindsave: {fault['stage']}: {fault['what']}" in done.stderr for fault in survived)
    expected, found = results(finished), results(folder)
    assert found.keys() >= TABLES - {"protocol.toml", "results/test/sealed_test.parquet"}
    assert "models/students/feed_forward/14303.safetensors" in found
    assert [name for name in found if found[name] != expected[name]] == []
    assert not list(folder.rglob(f"{store.TEMPORARY}*"))


def test_a_finished_study_is_skipped_and_its_status_is_done(finished):
    events = [(event.stage.name, event.what) for event in study.run(tiny_study.site(finished))]
    assert events == [(name, "skipped") for name in NAMES]
    assert [(one["stage"], one["state"]) for one in study.status(finished)] == [(name, "done") for name in NAMES]


def test_the_principal_test_and_the_published_noise_shots_stay_closed(finished):
    assert sorted(path.name for path in finished.glob("results/test/*.parquet")) == ["sealed_test.parquet"]
    assert "The principal test was not opened" in (finished / "results/statement.md").read_text()
    assert PAPER.opens_principal_test
    assert not any(scale.opens_principal_test for scale in SCALES.values() if scale is not PAPER)


def test_damage_is_named_and_never_repaired_silently(finished, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    table = folder / "results/validation/validation.parquet"
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(BadFile, match=r"validation\.parquet was changed"):
        list(study.run(tiny_study.site(folder)))
    (folder / "results/memory/state_reset.parquet").unlink()
    shard = next(folder.glob("work/dataset/*/shard-0000.safetensors"))
    shard.write_bytes(b"\0" + shard.read_bytes()[1:])
    (folder / "stages/noise.json").unlink()
    (folder / "stages/report.json").write_text("{")
    states = {one["stage"]: one for one in study.status(folder)}
    assert states["validation"]["state"] == states["memory"]["state"] == states["report"]["state"] == "damaged"
    assert {states["base"]["state"], states["shadow"]["state"]} == {"damaged", "done"}
    assert states["noise"]["state"] == "missing"
    assert states["splits"]["state"] == states["efficiency"]["state"] == "done"
    assert "validation.parquet" in states["release"]["reason"]  # the seal binds what the release rested on
    assert "state_reset.parquet is missing" in states["memory"]["reason"]


def copied(finished: Path, folder: Path) -> Path:
    """A copy of the finished study, to be harmed."""
    shutil.copytree(finished, folder)
    return folder


def ran(folder: Path, **options) -> list[str]:
    """Run a study and name the stages that had something to do."""
    return [event.stage.name for event in study.run(tiny_study.site(folder), **options) if event.what == "ran"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("results/ledger.jsonl", None), ("results/ledger.jsonl", b"edited\n"), ("results/freeze.json", b"garbage")],
)
def test_a_finished_study_defends_its_ledger_and_its_freeze(finished, tmp_path, name, content):
    folder = tmp_path / "tiny"
    shutil.copytree(finished, folder)
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    with pytest.raises(BadFile, match=name.partition("/")[2]):
        for _ in study.run(tiny_study.site(folder)):
            pass
    states = {one["stage"]: one for one in study.status(folder)}
    assert states["release"]["state"] == "damaged" and name in states["release"]["reason"]


def test_a_truncated_shard_is_collected_again(finished, tmp_path, capsys):
    folder = copied(finished, tmp_path / "copy")
    (base,) = json.loads((folder / "stages/base.json").read_text())["artifacts"]
    shard = folder / base / "shard-0000.safetensors"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-100])
    assert ran(folder) == ["base"]
    assert shard.read_bytes() == whole
    assert (folder / "work/damaged" / Path(base).relative_to("work") / shard.name).read_bytes() == whole[:-100]
    (fault,) = faults.read_faults(folder)
    assert str(shard) in fault["what"] and fault["what"] in capsys.readouterr().err
    assert results(folder) == results(finished)
    assert ran(folder) == []


def test_a_damaged_collector_is_trained_again_and_must_be_the_same(finished, tmp_path):
    folder = copied(finished, tmp_path / "copy")
    record = json.loads((folder / "stages/collectors.json").read_text())
    (name,) = (name for name in record["files"] if name.endswith("14303.safetensors"))
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(b"\0" + whole[1:])
    assert ran(folder) == ["collectors"]
    assert (folder / name).read_bytes() == whole
    (folder / name).unlink()
    record["files"][name] = "0" * 64  # as if it had been another one
    (folder / "stages/collectors.json").write_text(json.dumps(record))
    for _ in range(2):  # and the refusal is not forgotten
        with pytest.raises(BadFile, match=f"{Path(name).name} was made again after damage and is not what it was"):
            ran(folder)
    assert {one["stage"]: one["state"] for one in study.status(folder)}["collectors"] == "failed"


@pytest.mark.parametrize("name", ["models/students/feed_forward/14303.safetensors", "results/test/sealed_test.parquet"])
def test_what_was_frozen_or_published_is_never_made_again(finished, tmp_path, name):
    folder = copied(finished, tmp_path / "copy")
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    with pytest.raises(BadFile, match=f"{Path(name).name} was changed after its stage had finished"):
        ran(folder)
    assert not (folder / "work/damaged").exists() and not faults.read_faults(folder)


def test_once_the_test_is_open_a_model_is_not_replaced(finished, tmp_path):
    site = tiny_study.site(copied(finished, tmp_path / "copy"))
    model = site.student_file("feed_forward", 14303)
    assert site.publish(model, model.read_bytes()) == model
    with pytest.raises(BadFile, match="was frozen before the test was opened"):
        site.publish(model, b"another")


@pytest.mark.parametrize("content", [b"", b"garbage", "flipped"])
def test_a_corrupted_checkpoint_is_set_aside_and_the_training_begins_again(finished, tmp_path, content):
    folder = begun(finished, tmp_path / "study", "splits", "teacher", "memory", "base")
    shutil.copytree(finished / "work/dataset", folder / "work/dataset")
    (trained,) = json.loads((finished / "stages/collectors.json").read_text())["artifacts"]
    checkpoint = folder / "work/checkpoints" / f"{Path(trained).name}.safetensors"
    if content == "flipped":
        leave_checkpoint(folder)
        content = checkpoint.read_bytes()
        content = content[:-1] + bytes([content[-1] ^ 1])
    store.write_whole(checkpoint, content)
    assert ran(folder, until="collectors") == ["collectors"]
    (fault,) = faults.read_faults(folder)
    assert str(checkpoint) in fault["what"]
    assert (folder / "work/damaged/checkpoints" / checkpoint.name).read_bytes() == content
    assert not checkpoint.exists()
    name = f"{trained}/14303.safetensors"
    assert (folder / name).read_bytes() == (finished / name).read_bytes()


def leave_checkpoint(folder: Path) -> None:
    """Begin to train the collectors, and run out of time."""
    pipeline = open_pipeline(tiny_study.site(folder))
    pipeline.deadline = 0.0
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OutOfTime):
        patch.setattr(type(pipeline), "_check_time", lambda self, what: None)
        pipeline.collectors("feed_forward")


@pytest.mark.parametrize(("last", "state"), [(13, "failed"), (10**9, "running")])
def test_a_full_disk_is_named_and_the_same_command_goes_on(finished, tmp_path, monkeypatch, last, state):
    """Full for one write, so that the reason can be kept; or for good, so that not even that is possible."""
    folder = begun(finished, tmp_path / "study", "splits", "teacher")
    written = [0]

    def full(path: Path) -> None:
        written[0] += 1
        if 13 <= written[0] <= last:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        for module in (artifacts, writing):
            patch.setattr(module, "sync", full)
        with pytest.raises(DiskFull, match=f"no room left on the disk that holds {folder}.*run the same command again"):
            ran(folder, until="memory")
    assert not list(folder.rglob(f"{store.TEMPORARY}*"))
    found = {one["stage"]: one for one in study.status(folder)}["memory"]
    assert found["state"] == state
    assert ("no room left" in found.get("reason", "")) == (state == "failed")
    assert ran(folder, until="memory") == ["memory"]
    for name in ("state_reset", "memoryless"):
        table = f"results/memory/{name}.parquet"
        assert (folder / table).read_bytes() == (finished / table).read_bytes()


def test_status_tells_how_far_a_stage_is(tmp_path, capsys):
    records = Records(tmp_path)
    records.begin("shadow", "key")
    records.advance("shadow", "key", 2, 5, ["a", "b"])
    faults.keep(tmp_path, "base", "base 3", "worker 1 was killed")
    state = {one["stage"]: one for one in study.status(tmp_path)}["shadow"]
    assert (state["state"], state["tasks"]) == ("running", {"done": 2, "of": 5, "running": ["a", "b"]})
    cli.execute(["status", str(tmp_path)])
    said = capsys.readouterr().out
    assert "2 of 5 tasks done; begun: a, b" in said
    assert "faults survived: 1; the last, in base: worker 1 was killed" in said


def test_a_failed_stage_says_why(finished, tmp_path):
    folder = begun(finished, tmp_path / "study", "splits")
    site = tiny_study.Site(folder, tiny_study.TINY, teacher=tmp_path / "nobody.safetensors", quiet=True)
    with pytest.raises(BlindsaveError, match="there is no teacher"):
        list(study.run(site, until="teacher"))
    states = {one["stage"]: one for one in study.status(tmp_path / "study")}
    assert states["teacher"]["state"] == "failed"
    assert "nobody.safetensors" in states["teacher"]["reason"]
    assert states["memory"]["state"] == "missing"


def test_another_teacher_is_another_study(finished, tmp_path):
    folder = begun(finished, tmp_path / "study", "splits", "teacher", "memory")
    other = tmp_path / "other.safetensors"
    other.write_bytes(tiny_study.site(folder).teacher_source.read_bytes() + b" ")

    def events(**options):
        site = tiny_study.Site(folder, tiny_study.TINY, quiet=True, **options)
        return [(event.stage.name, event.what) for event in itertools.islice(study.run(site), 2)]

    assert events() == [("splits", "skipped"), ("teacher", "skipped")]
    assert events(teacher=other) == [("splits", "skipped"), ("teacher", "begun")]


def everything(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every path below a folder with its size and time of change."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_another_plan_in_a_released_folder_is_refused_before_a_byte_is_written(finished, tmp_path):
    folder = copied(finished, tmp_path / "study")
    before = everything(folder)
    for change in ({"families": ("gru_n64",)}, {"training_seeds": (14304,)}, {"test_blackouts": (10,)}):
        site = tiny_study.Site(folder, replace(tiny_study.TINY, **change), quiet=True)
        with pytest.raises(BadInput, match=f"the test of {folder} was opened for other families, seeds or tests"):
            list(study.run(site))
    with pytest.raises(BadInput, match="use another --folder"):
        cli.execute(["study", "--scale", "smoke", "--folder", str(folder), "--import", str(finished / "work")])
    assert everything(folder) == before


def test_a_second_study_in_a_folder_is_refused_at_once(finished, tmp_path):
    folder = begun(finished, tmp_path / "study", "splits", "teacher")
    first = study.run(tiny_study.site(folder))
    assert next(first).what == "skipped"
    with pytest.raises(BadInput, match=rf"another study is running in {folder} \(process {os.getpid()}\)"):
        next(study.run(tiny_study.site(folder)))
    first.close()
    assert next(study.run(tiny_study.site(folder))).what == "skipped"


def test_once_the_test_is_open_the_teacher_stays(finished, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(finished, folder)
    other = tmp_path / "other.safetensors"
    other.write_bytes(tiny_study.site(folder).teacher_source.read_bytes() + b" ")
    before = store.sha256_file(tiny_study.site(folder).teacher_file)
    with pytest.raises(BadFile, match="was frozen before the test was opened"):
        list(study.run(tiny_study.Site(folder, tiny_study.TINY, teacher=other, quiet=True)))
    training = tiny_study.Site(folder, replace(tiny_study.TINY, train_teacher=True), quiet=True)
    with pytest.raises(BadFile, match="was opened with another teacher: use another --folder"):
        groundwork.make_teacher(training)
    assert store.sha256_file(tiny_study.site(folder).teacher_file) == before


def test_a_study_can_train_its_own_teacher(tmp_path, monkeypatch, quick_compilation):
    """Too short to learn anything, but trained, validated and frozen as the real one is, with progress."""
    from blindsave.learning.dreamer import run

    monkeypatch.setattr(run, "validate_teacher", partial(run.validate_teacher, lengths=(20,), shot_count=5))
    site = tiny_study.Site(tmp_path, replace(tiny_study.TINY, train_teacher=True, teacher_steps=64))
    groundwork.make_teacher(replace(site, scale=tiny_study.TINY))  # the folder first had the shipped one
    heard = []
    with redirect_progress(lambda done, total, remark: heard.append((done, total, remark))):
        output = groundwork.make_teacher(site)
    assert output.result["trained_here"]
    assert (heard[0][:2], heard[-1][:2]) == ((64, 64), (64, 64))
    assert heard[-1][2].endswith("of validation shots")
    assert catalog.load_file(site.teacher_file).name == "teacher"
    assert store.sha256_file(site.teacher_file) != store.sha256_file(site.teacher_source)


def test_the_plan_counts_what_is_played(finished):
    planned = {one.stage: one.episodes for one in study.plan(tiny_study.TINY)}
    grids = [json.loads(path.read_text()) for path in finished.glob("work/grid/*/manifest.json")]
    datasets = [json.loads(path.read_text()) for path in finished.glob("work/dataset/*/manifest.json")]
    assert planned["memory"] + planned["validation"] + planned["release"] + planned["noise"] == sum(
        manifest["result"]["episodes"] for manifest in grids
    )
    assert planned["base"] + planned["shadow"] == sum(manifest["result"]["episodes"] for manifest in datasets)


def test_the_paper_plan_has_the_papers_counts():
    planned = {one.stage: one for one in study.plan(PAPER)}
    assert planned["base"].episodes == 20_000
    assert planned["shadow"].episodes == 140_000
    assert planned["release"].episodes == 2 * 36 * 225 * 6
    assert planned["noise"].episodes == 21_600
    assert planned["collectors"].tasks == planned["finals"].tasks == 7


def test_trainings_made_elsewhere_are_taken_without_their_episodes(finished, tmp_path):
    from blindsave.learning.distil.packing import pack

    archive = pack(finished / "work", tmp_path / "students.tar")[0]
    site = tiny_study.site(begun(finished, tmp_path / "study", "splits", "teacher", "memory"))
    assert import_trainings(site, archive) > 0
    for _ in study.run(site, until="finals"):
        pass
    for path in (tmp_path / "study/models").rglob("*.safetensors"):
        assert path.read_bytes() == (finished / path.relative_to(tmp_path / "study")).read_bytes()
    assert not list((tmp_path / "study/work/dataset").glob("*/*.safetensors"))
    records = {p.relative_to(finished): p.read_bytes() for p in finished.glob("results/datasets/*/manifest.json")}
    assert len(records) == 2
    assert all((tmp_path / "study" / name).read_bytes() == content for name, content in records.items())


def imported_without_finals(finished, folder):
    """A study that was brought everything of a finished one but its final students and its episodes."""
    from blindsave.learning.distil.packing import pack

    elsewhere = folder / "elsewhere"
    shutil.copytree(finished / "work", elsewhere)
    for manifest in elsewhere.glob("students/*/manifest.json"):
        if json.loads(manifest.read_text())["configuration"]["stage"] == "final":
            shutil.rmtree(manifest.parent)
    site = tiny_study.site(begun(finished, folder / "study", "splits", "teacher", "memory"))
    import_trainings(site, pack(elsewhere, folder / "students.tar")[0])
    return site


def test_a_training_that_was_not_brought_plays_the_episodes_again_that_it_needs(finished, tmp_path):
    for _ in study.run(imported_without_finals(finished, tmp_path), until="finals"):
        pass
    models = list((tmp_path / "study/models/students").rglob("*.safetensors"))
    assert models
    for path in models:
        assert path.read_bytes() == (finished / path.relative_to(tmp_path / "study")).read_bytes()
    assert list((tmp_path / "study/work/replayed/dataset").glob("*/*.safetensors"))


def test_episodes_that_come_out_differently_are_not_trained_on(finished, tmp_path):
    site = imported_without_finals(finished, tmp_path)
    for _ in study.run(site, until="shadow"):
        pass
    for path in (tmp_path / "study/work/dataset").glob("*/manifest.json"):
        manifest = json.loads(path.read_text())
        if manifest["configuration"]["labels"] == "own":
            continue
        for entry in manifest["files"].values():
            entry["sha256"] = "0" * 64
        del manifest["manifest_sha256"]
        path.write_text(json.dumps(manifest | {"manifest_sha256": store.digest(manifest)}))
    with pytest.raises(OtherEpisodesError, match="played again on this machine, are not those that were imported"):
        open_pipeline(site).finals("feed_forward")


def test_what_was_spent_is_kept(finished):
    spent = {row["work"]: row for row in json.loads((finished / "results/spent.json").read_text())["spent"]}
    assert spent["base episodes"]["episodes"] == tiny_study.TINY.base_episodes
    assert spent["finals, feed_forward"]["wall_s"] > 0


def test_plan_and_bad_words_on_the_command_line(capsys):
    cli.execute(["study", "--scale", "quick", "--plan", "--json"])
    plan = json.loads(capsys.readouterr().out)["plan"]
    assert [one["stage"] for one in plan] == NAMES
    assert sum(one["episodes"] for one in plan) == sum(one.episodes for one in study.plan(QUICK))
    with pytest.raises(BlindsaveError, match="there is no stage `nowhere`"):
        cli.execute(["study", "--until", "nowhere", "--json"])
    with pytest.raises(BlindsaveError, match="holds no study"):
        cli.execute(["status", "/nonexistent", "--json"])
