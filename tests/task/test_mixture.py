"""Mixtures of conditions for training."""

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.task.mixture import CLEAN_MIXTURE, Mixture
from blindsave.task.shots import shots

SHOT = shots("validation")[0]


def test_clean_training_draws_nothing_more():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    CLEAN_MIXTURE.draw(rng, SHOT, 10)
    assert rng.bit_generator.state == before


def test_a_mixture_draws_by_its_shares_and_anew_every_time():
    mixture = Mixture.of({"clean": 1, "noise_5mm": 3})
    rng = np.random.default_rng(0)
    episodes = [mixture.draw(rng, SHOT, 10) for _ in range(400)]
    offsets = [e.tracking.offset for e in episodes if e.tracking.offset is not None]
    assert 0.68 < len(offsets) / 400 < 0.82
    assert not np.array_equal(offsets[0], offsets[1])


@pytest.mark.parametrize("wrong", [[], {"clean": 0}, {"clean": float("nan")}, ["noise_5mm", "noise_5"], ["fog"]])
def test_a_senseless_mixture_is_refused(wrong):
    with pytest.raises(BadInput):
        Mixture.of(wrong)


def test_a_mixture_is_kept_as_names_and_shares_and_a_clean_one_as_nothing():
    assert Mixture.of({"clean": 1, "noise_5": 3}).shares_by_name == (("clean", 0.25), ("noise_5mm", 0.75))
    assert Mixture.of(["clean"]).shares_by_name == Mixture.of("clean").shares_by_name == ()


def test_shares_stay_what_they_are_when_they_are_read_again():
    made = Mixture.of(
        {"clean": 4, **{f"latency_{n}": 1 for n in range(1, 9)}, **{f"noise_{n}mm": 1 for n in range(1, 7)}}
    )
    assert Mixture.of(dict(made.shares_by_name)).shares_by_name == made.shares_by_name
    assert dict(made.shares_by_name)["latency_1"] == 1 / 18
