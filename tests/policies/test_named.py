"""Teachers without weights: a file that names a policy, and what can teach."""

import numpy as np
import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.policies import catalog
from blindsave.policies.catalog import from_file, model_file, student_file
from blindsave.policies.named import absolute, check_teacher, teacher_content
from blindsave.policies.scripted import PRIVILEGED


def test_a_named_teacher_becomes_a_file_that_plays_like_it(tmp_path):
    path = tmp_path / "teacher.safetensors"
    path.write_bytes(teacher_content(catalog.Path("privileged")))
    found = from_file(path, "teacher", 0)
    assert found.name == "teacher" and found.policy is PRIVILEGED
    assert path.read_bytes() == teacher_content(catalog.Path("privileged"))


def test_a_policy_of_that_name_that_has_changed_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "teacher.safetensors"
    path.write_bytes(teacher_content(catalog.Path("privileged")))
    monkeypatch.setattr(catalog, "_source", lambda policy: {"source": "another"})
    with pytest.raises(BadFile, match="names `privileged`, which has changed since"):
        from_file(path)


def test_a_file_is_taken_as_it_is():
    assert teacher_content(model_file("teacher")) == model_file("teacher").read_bytes()


def test_names_stay_names_and_files_become_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute(catalog.Path("privileged")) == catalog.Path("privileged")
    assert absolute(catalog.Path("a.safetensors")) == tmp_path / "a.safetensors"


class Wrong:
    name = "wrong"
    privileged = True

    def __init__(self, action):
        self.action = action

    def initial(self, n):
        return np.zeros((n, 0), np.float32)

    def step(self, carry, obs, truth):
        return carry, self.action() if callable(self.action) else self.action


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (np.zeros((2, 3)), "no two finite numbers"),
        (np.full((2, 2), np.nan), "no two finite numbers"),
        (lambda: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_teacher_is_tried_before_anything_runs(monkeypatch, action, says):
    monkeypatch.setitem(catalog.NAMES, "wrong", lambda: Wrong(action))
    with pytest.raises(BadInput, match=says):
        check_teacher("`--teacher`", catalog.Path("wrong"))


@pytest.mark.parametrize("source", [student_file("gru_n64", 14303), "fixed_centre"])
def test_who_can_neither_be_told_actions_nor_the_truth_cannot_teach(source):
    with pytest.raises(BadInput, match="cannot be"):
        check_teacher("`--teacher`", catalog.Path(source))
