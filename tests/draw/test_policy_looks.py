"""Families nobody drew before: what they are called, and that they can be told apart."""

from itertools import combinations

import pytest

from blindsave.draw.family_names import core_and_size, family_short, sizes_by_core
from blindsave.draw.palette import CONTRAST, DARK_GROUND, WHITE, apart, contrast, separation
from blindsave.draw.policy_looks import LOOKS, PLAIN, look, looks, plain_words, title
from blindsave.policies.scripted import INACTIVE
from blindsave.policies.students.registry import PAPER_FAMILIES

OWN = ("mgu_n24", "s5_n16", "structured_k0_n16", "gru_n16")


def shades(name: str, among) -> tuple[str, str]:
    return among[name].light, among[name].dark


@pytest.mark.parametrize(
    ("name", "words", "short"),
    [
        ("gru_n16", "GRU, 16 units", "GRU-16"),
        ("gru_n1", "GRU, 1 unit", "GRU-1"),
        ("structured_k0_n16", "Linear memory, 16 units", "Linear-16"),
        ("structured_k3", "Structured k = 3", "k = 3"),
        ("structured_k3_n16", "Structured k = 3, 16 units", "k = 3, n = 16"),
        ("mingru_n64", "minGRU, 64 units", "minGRU-64"),
        ("lru_n32", "LRU, 32 oscillators", "LRU-32"),
        ("finite_stack_5", "5-step stack", "5-step stack"),
        ("mgu_n24", "mgu, 24 units", "mgu-24"),
        ("my_own_core_n8", "my own core, 8 units", "my own core-8"),
        ("my_core", "my core", "my core"),
        ("gru_n16_e24_c12_h24", "GRU, 16 units (e24 c12 h24)", "GRU-16 (e24 c12 h24)"),
        ("structured_k0_e16", "Linear memory (e16)", "Linear memory (e16)"),
        ("finite_stack_5_h8", "5-step stack (h8)", "5-step stack (h8)"),
    ],
)
def test_families_are_called_by_core_and_size(name, words, short):
    assert title(name) == words
    assert title(f"{name}/14303") == f"{words} (14303)"
    assert family_short(name) == short


def test_the_papers_families_keep_their_names_and_looks():
    assert title("gru_n64") == "GRU-64" and title("structured_k0/1") == "Structured k = 0 (1)"
    assert looks([*LOOKS, "mgu_n24"]).items() >= LOOKS.items()


def test_sizes_are_found_by_core_the_papers_too():
    assert core_and_size("structured_k0") == ("structured_k0", 64)
    assert core_and_size("feed_forward") == ("feed_forward", None)
    found = sizes_by_core(["gru_n128", "gru_n16", "structured_k0", "structured_k0_n8", "mgu_n24", "feed_forward"])
    assert found == {
        "gru": {16: "gru_n16", 128: "gru_n128"},
        "structured_k0": {8: "structured_k0_n8", 64: "structured_k0"},
    }
    assert [list(sizes) for sizes in found.values()] == [[16, 128], [8, 64]]


def test_families_of_other_widths_count_as_another_core():
    found = sizes_by_core(["gru_n8", "gru_n16", "gru_n8_e16", "gru_n16_e16", "gru_n4_e16_h8"])
    assert found == {
        "gru": {8: "gru_n8", 16: "gru_n16"},
        "gru_e16": {8: "gru_n8_e16", 16: "gru_n16_e16"},
    }
    assert core_and_size("structured_k0_e16") == ("structured_k0_e16", 64)


def test_ones_own_families_differ_from_each_other_and_from_the_teacher():
    drawn = looks([*OWN, "teacher"])
    for one, other in combinations(drawn, 2):
        assert separation(shades(one, drawn), shades(other, drawn)) > 0.06, (one, other)
    assert len({drawn[name].marker for name in drawn}) == len(drawn)


def test_the_teachers_grey_is_taken_even_where_it_does_not_play():
    drawn = looks(OWN)
    for name in OWN:
        assert separation(shades(name, drawn), shades("teacher", LOOKS)) > 0.06


def test_others_stand_apart_from_the_papers_families_they_are_drawn_with():
    drawn = looks(["structured_k0", "gru_n64", "gru_n16", "structured_k0_n16", "teacher"])
    for name in ("gru_n16", "structured_k0_n16"):
        for other in drawn.keys() - {name}:
            assert separation(shades(name, drawn), shades(other, drawn)) > 0.05, (name, other)
    assert len({drawn[name].marker for name in drawn}) == len(drawn)


def test_a_core_s_sizes_differ_in_their_lines_and_the_largest_is_whole():
    drawn = looks(["lru_n8", "lru_n16", "lru_n32"])
    assert drawn["lru_n32"].line == "-"
    assert len({str(drawn[name].line) for name in drawn}) == 3


def test_looks_do_not_depend_on_the_order_of_names():
    assert looks(OWN) == looks(reversed(OWN))
    assert look("mgu_n24") == looks(["mgu_n24"])["mgu_n24"]


@pytest.mark.parametrize("count", [1, 12, 60])
def test_any_number_of_colours_can_be_had_and_read(count):
    found = apart(count)
    assert len(set(found)) == count
    for light, dark in found:
        assert contrast(light, WHITE) >= CONTRAST and contrast(dark, DARK_GROUND) >= CONTRAST


def test_more_colours_than_there_are_come_again():
    assert len(apart(1000)) == 1000


def test_separation_sees_with_colour_blind_eyes():
    red, green = ("#c04a00", "#c04a00"), ("#6a7a00", "#6a7a00")
    assert separation(red, green) < 0.08 < separation(red, ("#0067a8", "#0067a8"))
    assert separation(("#000000", "#000000"), ("#ffffff", "#ffffff")) == pytest.approx(1, abs=1e-3)


def test_families_of_the_study_differ_in_every_way_of_drawing():
    drawn = [look(family) for family in (*PAPER_FAMILIES, "teacher")]
    for field in ("title", "light", "dark", "marker"):
        assert len({getattr(each, field) for each in drawn}) == len(drawn), field


def test_plain_words_need_no_reading_and_never_name_a_seed():
    assert plain_words("structured_k0/14303") == "linear memory" and plain_words("feed_forward/14303") == "no memory"
    assert plain_words("teacher") == "the teacher" and plain_words(INACTIVE.name) == "does nothing"
    assert plain_words("mgu_n24/7") == "mgu, 24 units"
    assert {*PAPER_FAMILIES} <= {*PLAIN} and len({*PLAIN.values()}) == len(PLAIN)
