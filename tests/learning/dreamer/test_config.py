"""The configuration: what cannot work is refused, and files give back what was written."""

import pytest

from blindsave.errors import BadInput
from blindsave.learning.dreamer.config import Sizes


def test_sizes_that_cannot_work_are_refused():
    with pytest.raises(BadInput, match="not divisible into 7 blocks"):
        Sizes(3, 1, blocks=7)
    with pytest.raises(BadInput, match="odd"):
        Sizes(3, 1, bins=10)
