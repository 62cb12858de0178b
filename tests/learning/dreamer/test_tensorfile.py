"""Trees of arrays as named arrays, and files that know their checksum."""

import numpy as np
import pytest

from blindsave import tensors
from blindsave.errors import BadFile, BlindsaveError
from blindsave.learning.dreamer import tensorfile
from blindsave.learning.dreamer.returns import Spread
from blindsave.learning.dreamer.tensorfile import flatten, nest, read, unflatten, write

TREE = {"actor": {"layer0": {"kernel": np.ones((2, 3)), "bias": np.zeros(3)}}, "critic": {"bias": np.arange(2)}}


def test_names_are_paths_through_dictionaries_tuples_and_named_tuples():
    assert set(flatten(TREE)) == {"actor/layer0/kernel", "actor/layer0/bias", "critic/bias"}
    assert list(flatten(Spread(1.0, 2.0))) == ["low", "high"]
    assert list(flatten((5.0, [6.0]))) == ["0", "1/0"]


def test_nesting_inverts_flattening():
    again = nest(flatten(TREE))
    assert again["actor"]["layer0"]["kernel"] is TREE["actor"]["layer0"]["kernel"]
    assert set(again) == {"actor", "critic"}


def test_a_tree_is_rebuilt_in_the_shape_of_another():
    named = {f"learner/{name}": value + 1 for name, value in flatten(TREE).items()}
    again = unflatten(TREE, named, "learner/")
    np.testing.assert_array_equal(again["critic"]["bias"], [1, 2])
    assert isinstance(unflatten(Spread(np.zeros(()), np.zeros(())), {"low": np.ones(()), "high": np.ones(())}), Spread)


def test_a_missing_or_misshapen_leaf_is_named_with_its_source():
    named = flatten(TREE)
    with pytest.raises(BadFile, match="state lacks the array critic/bias"):
        unflatten(TREE, {k: v for k, v in named.items() if k != "critic/bias"}, source="state")
    with pytest.raises(BadFile, match=r"critic/bias has shape \(3,\), expected \(2,\)"):
        unflatten(TREE, named | {"critic/bias": np.zeros(3)})


def test_a_file_comes_back_with_its_metadata_and_says_its_checksum(tmp_path):
    path = tmp_path / "a.safetensors"
    checksum = write(path, flatten(TREE), {"step": 7})
    arrays, metadata = read(path)
    assert metadata == {"step": 7, "checksum": checksum}
    for name, value in flatten(TREE).items():
        np.testing.assert_array_equal(arrays[name], value)
    assert write(path, {**flatten(TREE), "more": np.zeros(1)}) != checksum


def test_content_that_does_not_match_its_checksum_is_refused(tmp_path):
    path = tmp_path / "a.safetensors"
    tensors.write(path, {"a": np.ones(3)}, {"checksum": tensors.checksum({"a": np.zeros(3)})})
    with pytest.raises(BadFile, match=r"a\.safetensors is damaged"):
        read(path)
    tensors.write(path, {"a": np.ones(3)}, {})
    with pytest.raises(BadFile, match="does not match its checksum"):
        read(path)


def test_a_place_that_cannot_be_written_is_named_and_earlier_files_are_called_intact(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tensorfile.tensors, "write", refuse)
    with pytest.raises(BlindsaveError, match=r"a\.safetensors could not be written \(Permission denied\).*intact"):
        write(tmp_path / "a.safetensors", {"a": np.ones(1)})
