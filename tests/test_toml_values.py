"""Values of a TOML file: what is allowed comes back, what is not ends the sentence that names its key."""

import pytest

from blindsave.errors import BadInput
from blindsave.toml_values import (
    Section,
    Wrong,
    ascending,
    either,
    flag,
    number,
    one_of,
    several,
    shown,
    text,
    whole,
)


def test_a_section_gives_checked_values_and_none_for_what_it_does_not_name():
    section = Section("study.toml", {"epochs": 3})
    assert section.get("epochs", whole(1)) == 3
    assert section.get("batch", whole(1)) is None


def test_a_wrong_value_is_named_with_its_file_and_key():
    section = Section("study.toml, [disturbances]", {"noise_mm": "loud"})
    with pytest.raises(BadInput) as caught:
        section.get("noise_mm", number(0, 1))
    assert str(caught.value) == 'study.toml, [disturbances]: `noise_mm` must be a number, not "loud"'


def test_an_unknown_key_is_named_with_those_that_exist():
    section = Section("study.toml", {"epochs": 3, "familys": []})
    section.only(("epochs", "familys"))
    with pytest.raises(BadInput, match="there is no disturbance `familys`; there are epochs, batch"):
        section.only(iter(("epochs", "batch")), "disturbance")


@pytest.mark.parametrize("value", [True, 1.0, "1", None])
def test_only_a_whole_number_is_one(value):
    with pytest.raises(Wrong, match="must be a whole number"):
        whole(0)(value)


def test_whole_numbers_have_both_ends_of_their_range():
    assert (whole(1, 3)(1), whole(1, 3)(3), whole(1)(10**9)) == (1, 3, 10**9)
    with pytest.raises(Wrong, match="must be between 1 and 3, not 4"):
        whole(1, 3)(4)
    with pytest.raises(Wrong, match="must be at least 1, not 0"):
        whole(1)(0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "5"])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(Wrong, match="must be a number, not"):
        number(0, 10)(value)


def test_numbers_that_are_whole_become_whole_so_that_equal_values_are_written_equally():
    found = [number(0, 10)(value) for value in (2.0, 2.5, 10)]
    assert found == [2, 2.5, 10] and [type(value) for value in found] == [int, float, int]


def test_flags_and_words_are_not_guessed():
    assert flag(False) is False and text("a b") == "a b"
    with pytest.raises(Wrong, match="must be true or false, not 0"):
        flag(0)
    for value in ("", 5):
        with pytest.raises(Wrong, match="must be text in quotes"):
            text(value)
    with pytest.raises(Wrong, match=r'must be one of a, b, not "c"'):
        one_of(("a", "b"))("c")


def test_lists_are_checked_one_by_one_and_repeat_nothing():
    assert several(whole(0))([3, 1]) == (3, 1)
    assert ascending(whole(0))([3, 1]) == (1, 3)
    assert several(whole(0), empty=True)([]) == ()
    refused = {"must be a list in brackets, not 3": 3, "must name at least one": [], "names 3 twice": [3, 1, 3]}
    refused |= {"must be at least 0, not -1": [1, -1]}
    for sentence, value in refused.items():
        with pytest.raises(Wrong, match=sentence):
            several(whole(0))(value)


def test_a_word_with_a_meaning_of_its_own_goes_before_the_check():
    check = either("all", None, whole(1))
    assert (check("all"), check(5)) == (None, 5)
    with pytest.raises(Wrong, match=r'must be a whole number, not "none"'):
        check("none")


def test_values_are_shown_as_toml_writes_them_and_cut_to_a_line():
    assert [shown(value) for value in (True, False, 1, "a", 1.5)] == ["true", "false", "1", '"a"', "1.5"]
    long = shown(list(range(100)))
    assert len(long) == 60 and long.startswith("[0, 1,") and long.endswith("...")
