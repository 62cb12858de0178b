"""The sizes of a study."""

from dataclasses import replace

import pytest

from blindsave.errors import BadInput
from blindsave.stages.scales import PAPER, QUICK, SCALES, SMOKE, Scale, scale_named


def test_a_scale_survives_being_written_down():
    for scale in SCALES.values():
        plain = {name: tuple(v) if isinstance(v, list) else v for name, v in scale.to_dict().items()}
        assert Scale(**plain) == scale


def test_presets_are_found_by_name_with_other_families_where_named():
    assert scale_named("quick") is QUICK
    assert scale_named("smoke", ["gru_n8"]) == replace(SMOKE, families=("gru_n8",))
    with pytest.raises(BadInput, match="there is no scale `huge`; scales: smoke, quick, paper"):
        scale_named("huge")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"families": ("hopfield",)}, "there is no family `hopfield`"),
        ({"families": ()}, "at least one family and one training seed"),
        ({"training_seeds": ()}, "at least one family and one training seed"),
        ({"shadow_episodes": 11}, r"11 shadow episodes cannot be shared equally by 5 .*; 15 can"),
    ],
)
def test_a_scale_that_cannot_be_played_is_refused(change, sentence):
    with pytest.raises(BadInput, match=sentence):
        replace(PAPER, **change)


def test_only_those_who_take_part_are_disturbed():
    assert PAPER.noisy == PAPER.noise_policies
    assert SMOKE.noisy == ("structured_k0",)
    assert replace(SMOKE, families=("gru_n64",)).noisy == ()
    assert replace(PAPER, families=("gru_n64",)).noisy == ("gru_n64", "teacher")


def test_presets_train_and_test_on_ever_less():
    for less, more in ((SMOKE, QUICK), (QUICK, PAPER)):
        assert set(less.families) < set(more.families)
        assert set(less.training_seeds) < set(more.training_seeds)
        assert set(less.test_blackouts) < set(more.test_blackouts)
        assert less.base_episodes < more.base_episodes
