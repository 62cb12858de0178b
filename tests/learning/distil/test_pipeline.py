import json
from pathlib import Path

import numpy as np
import pytest
from distil_fakes import TrackerTeacher

from blindsave.cli.distil import DistilCurves, DistilShip
from blindsave.diagnostics.pilot import run_pilot
from blindsave.engine.task import describe_place, open_place
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil import Recipe
from blindsave.learning.distil.__main__ import UNFINISHED, main
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.packing import pack, ship, unpack
from blindsave.learning.distil.pipeline import METRICS, Budget, Pipeline, open_student
from blindsave.learning.distil.workshop import Workshop, distil
from blindsave.policies.dreamer import AgentShape, save_teacher
from blindsave.policies.students import family
from blindsave.policies.students.student import Student, load_student
from blindsave.task.shots import shots

SEEDS = (14303, 14304)
BUDGET = Budget(base_episodes=20, shadow_episodes=20, seeds=SEEDS, recipe=Recipe(epochs=2))


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    return Pipeline(tmp_path_factory.mktemp("work"), TrackerTeacher(), "0" * 64, BUDGET, quiet=True)


@pytest.fixture(scope="module")
def summary(pipeline):
    return pipeline.run("feed_forward")


def test_both_stages_train_on_what_they_should(pipeline, summary):
    assert summary["collectors"]["episodes"] == 20 and summary["finals"]["episodes"] == 40
    assert summary["finals"]["transitions"] == summary["base"]["transitions"] + summary["shadow"]["transitions"]
    assert summary["shadow"]["shadow_queries"] == summary["shadow"]["transitions"] > 0
    collector, _ = open_student(pipeline.collectors("feed_forward"), 14303)
    final, _ = open_student(pipeline.finals("feed_forward"), 14303)
    assert (collector.provenance.stage, final.provenance.stage) == ("collector", "final")
    assert collector.provenance.dataset != final.provenance.dataset


def test_each_collector_plays_its_share_and_all_families_the_same_schedule(pipeline, summary):
    shadow = pipeline.shadow("feed_forward")
    assert [d.configuration["behaviour"] for d in shadow] == [f"feed_forward/{seed}" for seed in SEEDS]
    assert [d.episodes.index.tolist() for d in shadow] == [list(range(20, 30)), list(range(30, 40))]
    assert shadow[1].episodes.seed[0] == 52303 + 10


def test_finals_start_from_the_seed_not_from_the_collector(pipeline, summary):
    """One update moves no weight by more than the learning rate, so a final is still near its fresh start."""
    final, _ = open_student(pipeline.finals("feed_forward"), 14303)
    fresh = family("feed_forward").init(14303)
    moved = max(np.abs(final.parameters[name] - fresh[name]).max() for name in fresh)
    assert 0 < moved <= 2 * 3e-4 * 1.01


def test_finished_work_is_not_done_again(pipeline, summary, monkeypatch):
    monkeypatch.setattr("blindsave.learning.distil.pipeline.fit", None)
    monkeypatch.setattr("blindsave.learning.distil.collection.record", None)
    again = Pipeline(pipeline.work, TrackerTeacher(), "0" * 64, BUDGET, quiet=True).run("feed_forward")
    assert again == json.loads(json.dumps(summary))
    assert not list((pipeline.work / "checkpoints").glob("*"))


def test_after_the_deadline_nothing_is_begun(tmp_path):
    late = Pipeline(tmp_path, TrackerTeacher(), "0" * 64, BUDGET, deadline=0.0, quiet=True)
    with pytest.raises(OutOfTime):
        late.run("feed_forward")


def test_students_travel_in_one_archive_and_are_shipped(pipeline, summary, tmp_path):
    (archive,) = pack(pipeline.work, tmp_path / "students.tar")
    other = tmp_path / "elsewhere"
    unpack(archive, other)
    assert not list(other.glob("dataset/*/*.safetensors"))
    shipped = DistilShip(other, tmp_path / "models").run()["files"]
    assert len(shipped) == 2
    student = load_student(Path(tmp_path / "models/students/feed_forward/14304.safetensors"))
    mine, _ = open_student(pipeline.finals("feed_forward"), 14304)
    assert all(np.array_equal(student.parameters[n], mine.parameters[n]) for n in mine.parameters)
    with pytest.raises(BadInput, match="MiB"):
        pack(pipeline.work, tmp_path / "small.tar", limit_mib=0.001)
    with pytest.raises(BadInput, match="no finished family"):
        ship(tmp_path, tmp_path)


def test_a_damaged_archive_is_refused(pipeline, summary, tmp_path):
    (archive,) = pack(pipeline.work, tmp_path / "students.tar")
    archive.write_bytes(archive.read_bytes()[:1000])
    with pytest.raises(BadFile, match="not a whole archive"):
        unpack(archive, tmp_path / "elsewhere")


def test_curves_are_drawn_from_the_metrics(pipeline, summary, tmp_path):
    metrics = pipeline.finals("feed_forward").folder / METRICS
    DistilCurves(metrics, tmp_path / "curves.png").run()
    assert (tmp_path / "curves.png").read_bytes()[:4] == b"\x89PNG"


def test_the_pilot_reports_both_students(pipeline, summary):
    result = run_pilot(pipeline, family="feed_forward", lengths=(0,), chosen=shots("validation")[:9])
    for name in ("without_correction", "with_correction"):
        assert result[name]["saves"]["0"]["shots"] == 9
        assert result[name]["nearest_history"]["student"]["p95"] > 0
        assert result[name]["action_error"]["hidden_steps"] > 0
    json.dumps(result, allow_nan=False)


@pytest.fixture
def no_cache(monkeypatch):
    """Leave JAX's settings alone."""
    monkeypatch.setattr("blindsave.learning.distil.workshop.use_cache", lambda folder: None)


def test_what_is_no_teacher_is_refused(tmp_path, capsys, no_cache):
    Student.untrained("feed_forward", 1).save(tmp_path / "s.safetensors")
    assert main([str(tmp_path), "--teacher", str(tmp_path / "s.safetensors")]) == 2
    assert "a teacher cannot be" in capsys.readouterr().err


def test_an_unknown_family_is_refused_before_any_work(tmp_path):
    with pytest.raises(BadInput, match="no family"):
        distil(Workshop(tmp_path / "work"), ["feed_forward", "hopfield"])
    assert not (tmp_path / "work").exists()


@pytest.fixture(scope="module")
def teacher_file(tmp_path_factory):
    """An untrained teacher of the study's size."""
    path, shape, rng = tmp_path_factory.mktemp("teacher") / "t.safetensors", AgentShape(), np.random.default_rng(0)
    params = {name: (0.05 * rng.normal(size=size)).astype(np.float32) for name, size in shape.shapes.items()}
    save_teacher(path, params, shape=shape, seed=0, step=0, notes={})
    return path


def test_a_workshop_survives_being_written_down(tmp_path):
    shop = Workshop(tmp_path / "work", tmp_path / "t.safetensors", BUDGET, threads=3, deadline=1.5)
    assert open_place(json.loads(json.dumps(describe_place(shop)))) == shop


def test_families_side_by_side_come_out_as_one_after_another(teacher_file, tmp_path, no_cache):
    small, names = Budget(10, 10, SEEDS, Recipe(epochs=1)), ["feed_forward", "finite_stack_10"]
    alone = distil(Workshop(tmp_path / "alone", teacher_file, small), names)
    together = distil(Workshop(tmp_path / "together", teacher_file, small), names, parallel=2)
    assert list(together["families"]) == names
    for name in names:
        one, other = (found["families"][name] for found in (alone, together))
        assert one["shadow"] == other["shadow"] and one["finals_folder"] == other["finals_folder"]
        for path in sorted((tmp_path / "alone" / one["finals_folder"]).glob("*.safetensors")):
            assert path.read_bytes() == (tmp_path / "together" / one["finals_folder"] / path.name).read_bytes()


@pytest.mark.parametrize("more", [["feed_forward"], ["feed_forward", "gru_n64", "--parallel", "2"]])
def test_the_plain_entry_says_by_its_status_that_time_was_up(teacher_file, tmp_path, capsys, no_cache, more):
    found = main([str(tmp_path), "--teacher", str(teacher_file), "--minutes", "0", "--families", *more])
    assert found == UNFINISHED and "run the same command again" in capsys.readouterr().err


def test_the_plain_entry_packs_what_is_there(pipeline, summary, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("blindsave.learning.distil.__main__.distil", lambda shop, families, parallel: {"families": {}})
    assert main([str(pipeline.work), "--pack", str(tmp_path / "s.tar")]) == 0
    assert unpack(tmp_path / "s.tar", tmp_path / "elsewhere")
