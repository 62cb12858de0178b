"""Files of parameters."""

import numpy as np
import pytest

from blindsave.errors import BadFile
from blindsave.learning.dreamer import checkpoint, tensorfile


def test_a_file_of_something_else_is_not_taken_for_parameters(tmp_path):
    tensorfile.write(tmp_path / "other.safetensors", {"a": np.zeros(1)}, {"step": 1})
    with pytest.raises(BadFile, match="not a parameter file"):
        checkpoint.load_params(tmp_path / "other.safetensors")
    with pytest.raises(BadFile, match="cannot be read"):
        checkpoint.load_params(tmp_path / "nothing.safetensors")
