"""Names lead to policies: shipped students, files, registered names; and clear sentences otherwise."""

import shutil
from importlib.metadata import EntryPoint

import numpy as np
import pytest

from blindsave import policies
from blindsave.errors import BadFile, BadInput
from blindsave.policies import catalog, files, mlp
from blindsave.policies.scripted import INACTIVE
from blindsave.policies.students.registry import family
from blindsave.policies.students.student import Provenance, Student
from blindsave.store import sha256_file


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


def test_a_resolved_policy_says_who_it_is_and_where_it_came_from(models):
    file = catalog.student_file("structured_k0", 14303)
    found = policies.resolve("structured_k0/14303")
    assert (found.name, found.family, found.training_seed) == ("structured_k0/14303", "structured_k0", 14303)
    assert (found.file, found.sha256) == (file, sha256_file(file))
    assert policies.resolve(file).sha256 == found.sha256
    bare = policies.resolve("privileged")
    assert (bare.name, bare.training_seed, bare.file) == ("privileged", 0, None)


def test_a_control_goes_by_family_and_seed_too(models):
    mlp.MLP(((np.zeros((2, 19)), np.zeros(2)),), name="ppo/3").write(models / "ppo" / "3.safetensors")
    found = policies.resolve("ppo/3")
    assert (found.family, found.training_seed, found.sha256) == (
        "ppo",
        3,
        sha256_file(models / "ppo" / "3.safetensors"),
    )
    assert catalog.trained() == ["structured_k0/14303", "ppo/3"]


def test_a_shipped_file_that_holds_somebody_else_is_refused(models):
    Student.untrained("gru_n64", 7).save(catalog.student_file("structured_k0", 14304))
    with pytest.raises(BadFile, match="holds gru_n64/7, not structured_k0/14304"):
        policies.load("structured_k0/14304")


def other(path, seed=14303):
    """A student of the shipped one's name with other parameters."""
    parameters = Student.untrained("structured_k0", seed + 1).parameters
    Student(family("structured_k0"), parameters, Provenance(14303)).save(path)
    return path


def names(*paths):
    return [one.name for one in catalog.distinct([policies.resolve(path) for path in paths])]


def test_files_of_equal_names_are_told_apart_by_their_paths(models, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    one, two = other(out / "new.safetensors", 1), other(out / "old.safetensors", 2)
    assert names("structured_k0/14303", one) == ["structured_k0/14303", "structured_k0@new/14303"]
    assert names(one, "inactive", two) == ["structured_k0@new/14303", "inactive", "structured_k0@old/14303"]
    assert names(one, "inactive") == ["structured_k0/14303", "inactive"], "a single file keeps the name it holds"
    here, there = other(out / "a" / "same.safetensors", 1), other(out / "b" / "same.safetensors", 2)
    assert names(here, there) == ["structured_k0@a/14303", "structured_k0@b/14303"]


def test_the_same_policy_twice_is_refused_under_whatever_name(models, tmp_path):
    copy = tmp_path / "copy.safetensors"
    shutil.copy(catalog.student_file("structured_k0", 14303), copy)
    with pytest.raises(BadInput, match="structured_k0/14303 takes part twice"):
        names("structured_k0/14303", copy)


def test_an_installed_package_may_bring_a_kind_of_policy_file(models, monkeypatch):
    path = models / "mine.safetensors"
    files.write_policy(path, {"x": np.zeros(1)}, {"format": "mine.policy"})
    with pytest.raises(BadFile, match=r"mine\.policy"):
        policies.load(path)
    point = EntryPoint("mine.policy", f"{__name__}:read_mine", catalog.ENTRY_POINTS)
    monkeypatch.setattr(catalog, "entry_points", lambda group: [point])
    monkeypatch.setattr(catalog, "FORMATS", dict(catalog.FORMATS))
    assert policies.load(path).name == "inactive"


def read_mine(path, tensors, metadata):
    return INACTIVE
