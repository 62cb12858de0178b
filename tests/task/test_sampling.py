import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.sampling import Sampler
from blindsave.task.shots import shots


def hidden(episode) -> int:
    return int((~episode.tracking.visible).sum())


def test_each_draw_takes_the_shot_then_the_length_from_one_generator():
    sampler, rng, expected = Sampler(), np.random.default_rng(5303), np.random.default_rng(5303)
    for _ in range(50):
        episode = sampler.draw(rng)
        assert episode.shot is shots("train")[expected.integers(0, 900)]
        assert hidden(episode) == expected.integers(0, 21)


def test_a_fixed_length_leaves_the_shots_as_they_were():
    rng, other = np.random.default_rng(7), np.random.default_rng(7)
    free, fixed = Sampler("validation"), Sampler("validation", blackout=15)
    for _ in range(20):
        a, b = free.draw(rng), fixed.draw(other)
        assert a.shot is b.shot
        assert hidden(b) == 15


def test_a_table_of_lengths_is_drawn_with_its_probabilities():
    sampler = Sampler(blackout={0: 0.5, 5: 0.125, 10: 0.125, 15: 0.125, 20: 0.125})
    rng = np.random.default_rng(0)
    lengths = [hidden(sampler.draw(rng)) for _ in range(800)]
    assert set(lengths) == {0, 5, 10, 15, 20}
    assert 0.42 < lengths.count(0) / 800 < 0.58


def test_options_override_without_disturbing_the_sequence():
    rng, other = np.random.default_rng(1), np.random.default_rng(1)
    sampler, shot = Sampler(), shots("validation")[3]
    chosen = sampler.draw(rng, {"shot": shot.id, "blackout": 25})
    sampler.draw(other)
    assert chosen.shot is shot
    assert hidden(chosen) == 25
    assert sampler.draw(rng).shot is sampler.draw(other).shot


def test_a_launch_of_ones_own():
    episode = Sampler().draw(np.random.default_rng(0), {"shot": (0.5, 0.1, -2.0, 0.1), "blackout": 0})
    assert episode.shot.launch == (0.5, 0.1, 0.0, -2.0, 0.1, 0.0)
    assert episode.shot.target_y == pytest.approx(0.1 + 0.1 * 1.474 / 2)
    assert episode.shot.id == "custom:0.5,0.1,-2,0.1"


@pytest.mark.parametrize(
    ("make", "fragment"),
    [
        (lambda: Sampler("trian"), "did you mean 'train'"),
        (lambda: Sampler(blackout=-1), "does not fit"),
        (lambda: Sampler(blackout=(0, 122)), "does not fit"),
        (lambda: Sampler(blackout=(9, 3)), "range"),
        (lambda: Sampler(blackout={0: 0.4, 5: 0.4}), "sum to 1"),
        (lambda: Sampler(blackout=2.5), "whole number"),
        (lambda: draw({"blackout": 200}), "does not fit"),
        (lambda: draw({"blackout": "long"}), "whole number"),
        (lambda: draw({"shot": "train:alias:999:near_post_left"}), "no shot"),
        (lambda: draw({"shot": (0.5, 0.1, 2.0, 0.0)}), "towards the goal"),
        (lambda: draw({"shot": (2.0, 0.1, -2.0, 0.0)}), "does not fit on the table"),
        (lambda: draw({"shot": (0.5, 0.1)}), "four finite numbers"),
        (lambda: draw({"shots": 3}), "no reset option 'shots'"),
    ],
)
def test_bad_choices_are_refused_in_one_sentence(make, fragment):
    with pytest.raises(BadInput, match=fragment) as caught:
        make()
    assert "\n" not in str(caught.value)


def draw(options):
    return Sampler().draw(np.random.default_rng(0), options)
