"""Names lead to policies: shipped students, files, registered names; and clear sentences otherwise."""

import pytest

from blindsave import policies
from blindsave.errors import BadFile, BadInput
from blindsave.policies import catalog
from blindsave.policies.students.student import Student


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))
    Student.untrained("structured_k0", 14303).save(catalog.student_file("structured_k0", 14303))
    return tmp_path


def test_shipped_students_are_found_by_family_and_seed(models):
    assert policies.shipped() == ["structured_k0/14303"]
    assert policies.load("structured_k0/14303").name == "structured_k0/14303"


def test_a_missing_student_is_named_with_its_path(models):
    with pytest.raises(BadFile, match=r"structured_k0/14399.*14399\.safetensors does not exist"):
        policies.load("structured_k0/14399")


def test_unknown_names_are_refused(models, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name in ("", "goalie", "goalie/3", "../x"):
        with pytest.raises(BadInput, match="there is no policy"):
            policies.load(name)


def test_registered_names_come_first(models, monkeypatch):
    student = Student.untrained("feed_forward", 1)
    monkeypatch.setattr(catalog, "NAMES", {**catalog.NAMES, "my_keeper": lambda: student})
    assert policies.load("my_keeper") is student


def test_loaders_may_be_addresses_of_functions_and_of_policies(models, monkeypatch):
    monkeypatch.setattr(catalog, "NAMES", {"shipped": "blindsave.policies.catalog:shipped", **catalog.NAMES})
    assert policies.load("shipped") == ["structured_k0/14303"]
    assert policies.load("inactive").name == "inactive"


def test_the_teacher_and_other_shipped_models_go_by_their_bare_name(models):
    with pytest.raises(BadFile, match=r"no shipped model `teacher` .*teacher\.safetensors"):
        policies.load("teacher")
    Student.untrained("gru_n64", 7).save(catalog.model_file("keeper"))
    assert policies.load("keeper").name == "gru_n64/7"


def test_students_satisfy_the_policy_protocol(models):
    assert isinstance(policies.load("structured_k0/14303"), policies.Policy)
