"""The bench of training."""

import pytest

from blindsave.bench import teacher as bench
from blindsave.errors import BadInput


def test_the_bench_refuses_unknown_variants():
    with pytest.raises(BadInput, match="unknown variant 'fast'"):
        bench.bench(["fast"])
