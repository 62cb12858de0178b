"""The networks together: how many parameters each part has."""

import jax

from blindsave.learning.dreamer import model, nets
from blindsave.learning.dreamer.config import Sizes


def test_parameter_counts_are_those_of_the_preset():
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), Sizes(19, 2)))
    assert {name: nets.count(part) for name, part in params.items()} == {
        "dynamics": 364_160,
        "encoder": 9_792,
        "decoder": 50_771,
        "reward": 57_663,
        "continue": 41_153,
        "actor": 49_796,
        "critic": 66_111,
    }
    assert nets.count(params) == 639_446
    assert nets.count(model.acting_part(params)) == 378_308
