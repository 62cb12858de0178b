"""Workshops: a journey as JSON, refusals before any work, and deadlines."""

import json
import time

import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil import workshop
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.pipeline import Budget
from blindsave.learning.distil.workshop import Workshop, collect_base, distil, distil_family, minutes_from_now
from blindsave.policies.students.student import Student


@pytest.fixture(autouse=True)
def nothing_remembered():
    workshop.open_pipeline.cache_clear()
    yield
    workshop.open_pipeline.cache_clear()


class Slow:
    """A pipeline whose time is up."""

    def base(self):
        raise OutOfTime("later")

    def run(self, family):
        if family == "gru_n64":
            raise OutOfTime("later")
        return {"family": family}


def test_a_workshop_survives_a_journey_as_json(tmp_path):
    budget = Budget(base_episodes=20, seeds=(3, 4), recipe=Recipe(epochs=2, patience=5))
    for teacher in (None, tmp_path / "teacher.safetensors"):
        shop = Workshop(tmp_path, teacher, budget, threads=2, deadline=12.5)
        again = Workshop.from_dict(json.loads(json.dumps(shop.to_dict())))
        assert again == shop and hash(again) == hash(shop)


def test_a_journey_makes_paths_absolute(tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    assert Workshop(Path("work")).to_dict()["work"] == str((tmp_path / "work").resolve())


def test_an_unknown_family_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(workshop, "open_pipeline", lambda shop: pytest.fail("work was begun"))
    with pytest.raises(BadInput, match="no family `hopfield`"):
        distil(Workshop(tmp_path), ["gru_n64", "hopfield"])


def test_a_student_is_no_teacher(tmp_path, monkeypatch):
    monkeypatch.setattr(workshop, "use_cache", lambda folder: None)
    path = tmp_path / "student.safetensors"
    Student.untrained("feed_forward", 1).save(path)
    with pytest.raises(BadInput, match=r"a teacher cannot be .*student\.safetensors"):
        workshop.open_pipeline(Workshop(tmp_path, path))
    with pytest.raises(BadFile, match=r"nothing\.safetensors"):
        workshop.open_pipeline(Workshop(tmp_path, tmp_path / "nothing.safetensors"))


def test_a_task_out_of_time_gives_no_result_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(workshop, "open_pipeline", lambda shop: Slow())
    shop = Workshop(tmp_path)
    assert not distil_family(shop, "gru_n64").result
    assert distil_family(shop, "feed_forward").result == {"family": "feed_forward"}
    assert not collect_base(shop).result


def test_alone_a_family_out_of_time_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(workshop, "open_pipeline", lambda shop: Slow())
    assert distil(Workshop(tmp_path), ["feed_forward"], parallel=4)["families"] == {
        "feed_forward": {"family": "feed_forward"}
    }
    with pytest.raises(OutOfTime):
        distil(Workshop(tmp_path), ["gru_n64"])


def test_a_deadline_lies_minutes_ahead():
    before = time.monotonic()
    deadline = minutes_from_now(2)
    assert deadline is not None and 120 <= deadline - before < 180
    assert minutes_from_now(None) is None
