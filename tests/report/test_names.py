"""How the report calls things."""

import math

import pytest

from blindsave.report import names


def test_families_stand_in_the_studys_order_others_by_name_and_the_teacher_last():
    given = ["teacher", "gru_n64", "zebra", "feed_forward", "lru_n32", "gru_n64"]
    assert names.ordered(given) == ["feed_forward", "gru_n64", "lru_n32", "zebra", "teacher"]
    assert names.ordered([]) == []


@pytest.mark.parametrize(
    ("disturbance", "words", "sigma"),
    [
        ("clean", "400 ms", 0.0),
        ("noise_5mm", "400 ms, noise 5 mm", 5.0),
        ("noise_2.5mm", "400 ms, noise 2.5 mm", 2.5),
        ("noise_1e-05mm", "400 ms, noise 1e-05 mm", 1e-5),
    ],
)
def test_conditions_are_put_into_words(disturbance, words, sigma):
    assert names.condition(20, disturbance) == words
    assert names.sigma_mm(disturbance) == sigma


def test_a_disturbance_of_another_kind_has_no_noise_level():
    assert math.isinf(names.sigma_mm("puck_drag_2"))


def test_narrow_places_get_short_names():
    assert names.pair("structured_k0", "gru_n64") == "k = 0 − GRU-64"
    assert names.short("finite_stack_10") == "stack"
    assert (names.title("lru_n32"), names.short("lru_n32")) == ("LRU, 32 oscillators", "LRU-32")


def test_splits_without_a_title_keep_their_name():
    assert names.split_title("test") == "memory-test shots" and names.split_title("train") == "train"
