"""How nonlinear a memory is, by differentiation."""

import pytest

from blindsave.policies.students import family


@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_the_nonlinear_part_of_the_memory_has_the_declared_rank(rank):
    from blindsave.learning.distil.rank import jacobian_rank
    from blindsave.testing.contract import randomised_params

    kind = family(f"structured_k{rank}")
    assert jacobian_rank(kind, kind.init(14303)) == rank
    assert (jacobian_rank(kind, randomised_params(kind, 3)) or 0) <= rank


def test_a_core_without_a_linear_part_has_no_rank():
    from blindsave.learning.distil.rank import jacobian_rank

    assert jacobian_rank(family("gru_n64"), family("gru_n64").init(0)) is None
