import shutil

import numpy as np
import pytest

from blindsave.diagnostics.probe import Probe, probe_file
from blindsave.errors import BadFile, BadInput
from blindsave.play.roster import Roster, words
from blindsave.policies import catalog
from blindsave.policies.students.student import Provenance, Student
from blindsave.store import sha256_file


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path / "shipped"))
    return tmp_path


def ship(*families: str) -> None:
    for family in families:
        Student.untrained(family, 14303).save(catalog.student_file(family, 14303))


def study(folder, *families: str, seed=7):
    for family in families:
        Student.untrained(family, seed).save(folder / "models" / "students" / family / f"{seed}.safetensors")
    return folder


def test_without_models_the_scripted_policies_remain(models):
    players = Roster()
    assert {"privileged", "fixed_centre", "inactive"} <= {*players.keys}
    assert players.pair == ("privileged", "fixed_centre")


def test_shipped_students_come_first_and_make_the_pair(models):
    ship("feed_forward", "structured_k0")
    players = Roster()
    assert players.keys[:2] == ("feed_forward/14303", "structured_k0/14303")
    assert players.pair == ("structured_k0/14303", "feed_forward/14303")
    assert players.player("structured_k0/14303") is players.player("structured_k0/14303")


def test_a_named_policy_plays_first_against_one_that_differs(models):
    ship("feed_forward", "structured_k0")
    assert Roster(["privileged"]).pair == ("privileged", "feed_forward/14303")
    assert Roster(["feed_forward/14303"]).pair == ("feed_forward/14303", "structured_k0/14303")
    assert Roster(["inactive", "structured_k0/14303"]).pair == ("inactive", "structured_k0/14303")


def test_a_file_gets_a_key_of_its_own_beside_the_shipped_one_of_its_name(models):
    ship("feed_forward", "structured_k0")
    file = models / "mine" / "best.safetensors"
    other = Student.untrained("structured_k0", 5)
    Student(other.family, other.parameters, Provenance(14303)).save(file)
    players = Roster([str(file)])
    assert players.pair[0] == "structured_k0/14303@mine" and {players.pair[0], "structured_k0/14303"} <= {*players.keys}
    assert players.player(players.pair[0]).named.file == file
    assert words(players.pair[0]) == {
        "key": "structured_k0/14303@mine", "plain": "linear memory", "technical": "structured_k0/14303@mine",
    }  # fmt: skip
    shutil.copy(catalog.student_file("feed_forward", 14303), models / "copy.safetensors")
    assert Roster([str(models / "copy.safetensors")]).pair[0] == "feed_forward/14303", "the same policy, the same key"


def test_a_study_offers_all_its_policies_and_two_studies_meet(models):
    one = study(models / "one", "gru_n16", "structured_k0", "feed_forward")
    two = study(models / "two", "structured_k0")
    players = Roster([str(one)])
    assert players.pair == ("structured_k0/7", "feed_forward/7") and "gru_n16/7" in players.keys
    assert Roster([str(one), str(two)]).pair == ("structured_k0/7", "structured_k0/7"), "equal bytes are one policy"
    study(two, "gru_n16", seed=8)
    shutil.rmtree(two / "models" / "students" / "structured_k0")
    assert Roster([str(one), str(two)]).pair == ("structured_k0/7", "gru_n16/8")


@pytest.mark.parametrize("names", [["nobody"], ["empty"], ["a", "b", "c"], ["gru_n64/1"], [""]])
def test_what_is_no_policy_and_no_study_is_said_before_anything_is_served(names, models):
    (models / "empty").mkdir()
    given = [str(models / name) if name == "empty" else name for name in names]
    with pytest.raises((BadInput, BadFile)):
        Roster(given)


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "models/teacher/teacher.safetensors", "structured_k0/1", "__x"]
)
def test_only_what_is_offered_can_be_chosen(name):
    with pytest.raises(BadInput):
        Roster().player(name)


def test_a_probe_of_other_parameters_is_not_used(models):
    name = "structured_k0/14303"
    path = catalog.student_file("structured_k0", 14303)
    Student.untrained("structured_k0", 14303).save(path)
    width = catalog.load(name).initial(1).shape[1]
    probe = Probe(np.ones((2, width), np.float32), np.zeros(2, np.float32), name, sha256_file(path))
    probe.save(probe_file(name))
    assert Roster().player(name).probe is not None
    other = Student.untrained("structured_k0", 14304)
    Student(other.family, other.parameters, Provenance(14303)).save(path)
    assert Roster().player(name).probe is None
