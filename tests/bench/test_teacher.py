"""The bench of training."""

import dataclasses

import numpy as np
import pytest

from blindsave.bench import teacher as bench
from blindsave.errors import BadInput
from blindsave.learning.dreamer.config import Config, Sizes, Speed, Training


def test_the_bench_refuses_unknown_variants():
    with pytest.raises(BadInput, match="unknown variant 'fast'"):
        bench.bench(["fast"])


TINY = Config(
    Sizes(3, 1, deter=8, hidden=4, categoricals=2, classes=2, blocks=2, units=4, bins=5),
    training=Training(steps=1000, envs=2),
)


def test_the_filled_replay_is_full_of_episodes_of_forty_steps():
    buffer = bench.filled_replay(TINY)
    first, last = np.asarray(buffer.first), np.asarray(buffer.last)
    assert int(buffer.clock) == buffer.reward.shape[-1]
    np.testing.assert_array_equal(first[:, 1:], last[:, :-1])
    assert np.flatnonzero(first[0])[:3].tolist() == [0, 40, 80]
    reward = np.asarray(buffer.reward)
    assert not reward[~last].any() and set(np.unique(reward[last]).round(1)) <= {np.float32(-1.0), np.float32(1.2)}


def test_variants_change_the_layout_and_nothing_else():
    base = Speed.best("gpu")
    for name, change in bench.CHANGES.items():
        varied = dataclasses.replace(base, **change)  # an unknown field would be refused here
        assert (varied == base) == (name in ("best", "bfloat16", "dense")), name
