"""The configuration: what cannot work is refused, and files give back what was written."""

import json

import pytest

from blindsave.errors import BadInput
from blindsave.learning.dreamer.config import Config, Learning, Replay, Sizes, Speed, Training


def test_sizes_that_cannot_work_are_refused():
    with pytest.raises(BadInput, match="not divisible into 7 blocks"):
        Sizes(3, 1, blocks=7)
    with pytest.raises(BadInput, match="odd"):
        Sizes(3, 1, bins=10)


def test_a_configuration_survives_a_journey_as_json():
    config = Config(
        Sizes(19, 2, deter=16, blocks=2),
        Learning(batch=3),
        Replay(capacity=10),
        Training(population=4, timeouts="terminate"),
        Speed.best("gpu"),
    )
    assert Config.from_json(json.loads(json.dumps(config.to_json()))) == config


def test_widths_follow_from_each_other():
    sizes = Sizes(19, 2, deter=16, blocks=2, categoricals=4, classes=4)
    assert (sizes.latent, sizes.feature, sizes.block) == (16, 32, 8)
    assert Learning(length=64).window == 65


@pytest.mark.parametrize(
    ("options", "reason"), [({"timeouts": "ignore"}, "timeouts must be"), ({"population": 0}, "at least one teacher")]
)
def test_a_training_that_cannot_be_is_refused(options, reason):
    with pytest.raises(BadInput, match=reason):
        Training(**options)


def test_a_member_of_a_population_is_a_run_of_its_own_seed():
    config = Config(Sizes(19, 2), training=Training(seed=5, population=3))
    assert config.member(2).training == Training(seed=7, population=1)
    assert config.member(0).sizes == config.sizes
