"""How nonlinear a memory is, by differentiation."""

import numpy as np
import pytest

from blindsave.learning.distil.rank import jacobian_rank
from blindsave.policies.students import family
from blindsave.testing.contract import randomised_params


@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_the_nonlinear_part_of_the_memory_has_the_declared_rank(rank):
    kind = family(f"structured_k{rank}")
    assert jacobian_rank(kind, kind.init(14303)) == rank
    assert (jacobian_rank(kind, randomised_params(kind, 3)) or 0) <= rank


def test_a_core_without_a_linear_part_has_no_rank():
    assert jacobian_rank(family("gru_n64"), family("gru_n64").init(0)) is None


def test_singular_values_below_the_tolerance_do_not_count():
    kind = family("structured_k2")
    params = kind.init(1)
    faint = params | {"core.U": params["core.U"] * np.float32([1.0, 1e-7])}
    assert jacobian_rank(kind, faint, states=4) == 1
    assert jacobian_rank(kind, params | {"core.U": 0 * params["core.U"]}, states=4) == 0
    assert jacobian_rank(kind, faint, states=4, tolerance=1e-12) >= 2
