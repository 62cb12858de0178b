"""Where plan, models and results that came with the package are found."""

from pathlib import Path

from blindsave.verify import places
from blindsave.verify.places import brought, locate, shipped

REPOSITORY = Path(__file__).parents[2]


def test_a_checkout_brings_its_own(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert brought() == shipped() == REPOSITORY
    assert locate().plan == REPOSITORY / "protocol.toml"


def test_an_installed_package_brings_what_lies_inside_it(monkeypatch, tmp_path):
    package, elsewhere = tmp_path / "site-packages" / "blindsave", tmp_path / "elsewhere"
    (package / "results").mkdir(parents=True)
    elsewhere.mkdir()
    (package / "protocol.toml").touch()
    monkeypatch.setattr(places, "files", lambda name: package)
    monkeypatch.chdir(elsewhere)
    assert brought() == shipped() == package
    assert locate().models == package / "models"


def test_the_checkout_worked_in_comes_first(monkeypatch, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "freeze.json").touch()
    monkeypatch.chdir(tmp_path)
    assert shipped() == tmp_path and brought() == REPOSITORY


def test_a_further_study_has_models_of_its_own_and_perhaps_a_teacher_that_others_have_too(tmp_path):
    results, models = (tmp_path / top / "faults" / "faithful" for top in ("results", "models"))
    teachers = tmp_path / "models" / "teachers" / "faithful"
    for folder in (results, models / "teacher", teachers / "teacher"):
        folder.mkdir(parents=True)
    found, name = locate(results), "models/teacher/teacher.safetensors"
    assert found.path("models/students/a/1.safetensors") == models / "students/a/1.safetensors"
    assert found.path(name) == teachers / "teacher/teacher.safetensors"
    (models / "teacher" / "teacher.safetensors").touch()
    assert locate(results).path(name) == models / "teacher/teacher.safetensors"
