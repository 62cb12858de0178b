"""What policies are called and drawn as."""

import pytest

from blindsave.draw.policy_looks import LOOKS, look, title
from blindsave.policies.scripted import INACTIVE
from blindsave.policies.students.registry import PAPER_FAMILIES


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("structured_k0/14303", "Structured k = 0 (14303)"),
        ("teacher", "Teacher"),
        ("fixed_centre", "Stays central"),
        ("my_own_core/7", "my own core (7)"),
    ],
)
def test_a_policy_is_called_by_family_and_seed(name, words):
    assert title(name) == words


def test_families_of_the_study_differ_in_every_way_of_drawing():
    drawn = [look(family) for family in (*PAPER_FAMILIES, "teacher")]
    for field in ("title", "light", "dark", "marker"):
        assert len({getattr(each, field) for each in drawn}) == len(drawn), field


def test_an_unknown_family_always_gets_the_same_look():
    assert look("my_core") == look("my_core")
    assert look("my_core").title == "my core"
    assert "my_core" not in LOOKS


def test_scripted_policies_are_called_by_what_they_do():
    assert title(INACTIVE.name) == "Does nothing"
