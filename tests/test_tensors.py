"""Tensor files: equal content is equal bytes, and what cannot be read is named."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from blindsave import tensors
from blindsave.errors import BadFile
from blindsave.policies import files

MODELS = Path(__file__).parents[1] / "models"
FIELDS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.int64([5]),
    "c": np.zeros((0, 2), np.int16),
    "d": np.float64(0.5),
    "e": np.arange(3, dtype=np.uint8),
}


@pytest.mark.parametrize("metadata", [None, {"name": "x", "sizes": [1, None, {"b": 1.5, "a": "ü"}]}])
def test_what_is_written_is_read_and_mapped(tmp_path, metadata):
    path = tensors.write(tmp_path / "t.safetensors", FIELDS, metadata)
    read, facts = tensors.read(path)
    assert facts == (metadata or {})
    for found in (read, tensors.mapped(path)):
        assert found.keys() == FIELDS.keys()
        assert all(np.array_equal(found[n], v) and found[n].dtype == v.dtype for n, v in FIELDS.items())
    with pytest.raises(ValueError, match="read-only"):
        tensors.mapped(path)["a"][0, 0] = 1


def test_equal_content_is_equal_bytes_in_any_order(tmp_path):
    facts = {name: name for name in "abcdefghij"}
    one = tensors.write(tmp_path / "1", FIELDS, facts).read_bytes()
    fields, others = dict(reversed(FIELDS.items())), dict(reversed(facts.items()))
    assert all(tensors.write(tmp_path / "2", fields, others).read_bytes() == one for _ in range(5))


@pytest.mark.parametrize("name", ["students/gru_n64/14303", "teacher/teacher", "ppo/14304"])
def test_published_policies_come_out_with_the_same_bytes(tmp_path, name):
    path = MODELS / f"{name}.safetensors"
    arrays, facts = tensors.read(path)
    assert tensors.write(tmp_path / "again", arrays, facts).read_bytes() == path.read_bytes()


def test_bytes_without_metadata_are_the_librarys(tmp_path):
    """Published manifests bind the hashes of such shards."""
    fields = {name: np.asarray(value) for name, value in FIELDS.items()}
    assert tensors.write(tmp_path / "t", fields).read_bytes() == save(fields)


def test_the_checksum_knows_names_types_shapes_and_bytes():
    value = np.arange(6, dtype=np.float32)
    others = [{"b": value}, {"a": value.reshape(2, 3)}, {"a": value.view(np.int32)}, {"a": value + 1}]
    assert len({tensors.checksum(arrays) for arrays in [{"a": value}, *others]}) == 5
    both = {"a": value, "b": value}
    assert tensors.checksum(both) == tensors.checksum(dict(reversed(both.items())))


@pytest.mark.parametrize("size", [0, 7, 40, 600])
@pytest.mark.parametrize("read", [tensors.read, tensors.mapped])
def test_a_truncated_file_is_named(tmp_path, size, read):
    path = tensors.write(tmp_path / "t.safetensors", {"x": np.arange(1000, dtype=np.float32)})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BadFile, match=r"t\.safetensors is damaged: it is not a whole safetensors file"):
        read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadFile, match="none cannot be read"):
        tensors.read(tmp_path / "none")


def raw(kind: str, size: int) -> bytes:
    header = json.dumps({"weight": {"dtype": kind, "shape": [2], "data_offsets": [0, size]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size)


def test_a_leaf_of_an_unknown_type_is_named(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(raw("BF16", 4))
    with pytest.raises(BadFile, match=r"t: `weight` is (BF16|bfloat16), "):  # NumPy knows it where JAX was imported
        files.read_policy(path)
    path.write_bytes(raw("BOOL", 2))
    with pytest.raises(BadFile, match="t: `weight` is BOOL, which cannot be mapped"):
        tensors.mapped(path)


@pytest.mark.parametrize("text", ["no json", "[" * 100_000, '{"a":' * 100_000])
def test_metadata_that_is_no_json_is_named(tmp_path, text):
    path = tmp_path / "t"
    path.write_bytes(save({"x": np.zeros(1)}, metadata={"notes": text}))
    with pytest.raises(BadFile, match="t: the metadata field `notes` is not JSON"):
        tensors.read(path)


def test_a_header_of_nested_brackets_is_refused(tmp_path):
    path, header = tmp_path / "t", b"[" * 100_000
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(BadFile, match="not a whole safetensors file"):
        tensors.read(path)
