import numpy as np
import pytest

from blindsave.diagnostics.probe import Probe, probe_file
from blindsave.draw.policy_looks import title
from blindsave.errors import BadInput
from blindsave.play import roster
from blindsave.policies import catalog
from blindsave.policies.classical.rivals import RIVALS
from blindsave.policies.students.student import Provenance, Student
from blindsave.store import sha256_file


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))
    return tmp_path


def test_without_models_rivals_and_scripted_policies_remain(models):
    players = roster.Roster()
    assert players.names == (*RIVALS, "planner", "privileged", "fixed_centre", "inactive")
    assert players.default_pair() == ("privileged", "fixed_centre")


def test_shipped_students_come_first_and_make_the_pair(models):
    for family in ("feed_forward", "structured_k0"):
        Student.untrained(family, 14303).save(catalog.student_file(family, 14303))
    players = roster.Roster()
    assert players.names[:2] == ("feed_forward/14303", "structured_k0/14303")
    assert players.default_pair() == ("structured_k0/14303", "feed_forward/14303")
    assert players.policy("structured_k0/14303") is players.policy("structured_k0/14303")


@pytest.mark.parametrize(
    "name", ["", "../../etc/passwd", "models/teacher/teacher.safetensors", "structured_k0/1", "__x"]
)
def test_only_what_is_offered_can_be_chosen(name):
    with pytest.raises(BadInput):
        roster.Roster().policy(name)


def test_titles_are_distinct():
    names = roster.available()
    assert len({title(name) for name in names}) == len(names)


def test_a_probe_of_other_parameters_is_not_used(models):
    name = "structured_k0/14303"
    path = catalog.student_file("structured_k0", 14303)
    Student.untrained("structured_k0", 14303).save(path)
    width = catalog.load(name).initial(1).shape[1]
    probe = Probe(np.ones((2, width), np.float32), np.zeros(2, np.float32), name, sha256_file(path))
    probe.save(probe_file(name))
    assert roster.Roster().policy(name).probe is not None
    other = Student.untrained("structured_k0", 14304)
    Student(other.family, other.parameters, Provenance(14303)).save(path)
    assert roster.Roster().policy(name).probe is None
