"""Hashes: one text for one value, one hash for a tree."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave import store

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_canonical_json_ignores_key_order_and_survives_reading_back(value):
    backwards = dict(reversed(value.items()))
    assert store.canonical_json(value) == store.canonical_json(backwards)
    assert store.digest(json.loads(store.canonical_json(value))) == store.digest(value)


def test_canonical_json_refuses_nan():
    with pytest.raises(ValueError, match="Out of range"):
        store.canonical_json({"rate": float("nan")})


def test_a_tree_hash_depends_on_names_and_contents(tmp_path):
    (tmp_path / "a").write_text("1")
    one = store.sha256_tree(tmp_path)
    os.rename(tmp_path / "a", tmp_path / "b")
    two = store.sha256_tree(tmp_path)
    (tmp_path / "b").write_text("2")
    assert len({one, two, store.sha256_tree(tmp_path)}) == 3
