import numpy as np
import pyarrow as pa
import pytest
from synthetic_tables import SEEDS, random_table, shot_rows, table

from blindsave.errors import BadFile, BadInput
from blindsave.evidence import tables
from blindsave.evidence.saves import saves
from blindsave.evidence.schedule import Layout

MEMBERS = shot_rows(3, (2, 1, 1, 2))
POLICIES = {"gru_n64": 0.9, "structured_k0": 0.95, "teacher": 0.97}


@pytest.fixture(scope="module")
def small() -> pa.Table:
    return random_table(POLICIES, SEEDS[:2], members=MEMBERS, blackouts=(0, 20), disturbances=("clean", "noise_5mm"))


@pytest.fixture(scope="module")
def expected() -> tables.Expected:
    layout = Layout("principal_test", MEMBERS, (0, 20), ("clean", "noise_5mm"))
    return tables.Expected({"gru_n64": SEEDS[:2], "structured_k0": SEEDS[:2], "teacher": (0,)}, (layout,))


def without(whole: pa.Table, row: int) -> pa.Table:
    return pa.concat_tables([whole.slice(0, row), whole.slice(row + 1)])


def with_value(whole: pa.Table, column: str, row: int, value) -> pa.Table:
    values = whole[column].to_pylist()
    values[row] = value
    index = whole.schema.get_field_index(column)
    return whole.set_column(index, whole.schema.field(column), pa.array(values, whole.schema.field(column).type))


def test_rows_follow_the_key_order_whatever_order_they_came_in(small, expected):
    shuffled = small.take(pa.array(np.random.default_rng(0).permutation(small.num_rows)))
    assert tables.concatenate([shuffled], expected).equals(small)
    first = [tables.key(small, row) for row in range(4)]
    assert [(k["policy"], k["training_seed"], k["blackout"], k["disturbance"]) for k in first] == [
        ("gru_n64", 14303, 0, "clean"),
        ("gru_n64", 14303, 0, "noise_5mm"),
        ("gru_n64", 14303, 20, "clean"),
        ("gru_n64", 14303, 20, "noise_5mm"),
    ]
    assert {k["shot_id"] for k in first} == {MEMBERS[0].shot_id}


def test_a_table_survives_the_disk_bit_for_bit(small, expected, tmp_path):
    path = tables.write(small, tmp_path / "episodes.parquet")
    again = tables.write(tables.read(path, expected), tmp_path / "again.parquet")
    assert tables.read(path).equals(small)
    assert path.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("row", [0, 17, 239 - 1])
def test_a_missing_row_is_refused_by_its_key(small, expected, row):
    row = min(row, small.num_rows - 1)
    gone = tables.key(small, row)
    for reference in (expected, None):
        with pytest.raises(BadFile, match=f"lacks the row .*shot_id={gone['shot_id']}, blackout={gone['blackout']}"):
            tables.check(without(small, row), reference)


def test_a_duplicated_row_is_refused_by_its_key(small, expected):
    twice = pa.concat_tables([small, small.slice(7, 1)])
    with pytest.raises(BadFile, match=f"duplicated row .*{tables.key(small, 7)['shot_id']}"):
        tables.check(twice, expected)
    with pytest.raises(BadFile, match="duplicated row"):
        tables.concatenate([small, small.slice(7, 1)])


@pytest.mark.parametrize(
    ("column", "value"),
    [("shot_id", "d:s:alias:999:near_post_left"), ("blackout", 7), ("training_seed", 1), ("policy", "ppo")],
)
def test_a_foreign_row_is_refused_by_its_key(small, expected, column, value):
    with pytest.raises(BadFile, match=f"foreign row .*{column}={value}"):
        tables.check(with_value(small, column, 5, value), expected)


def test_rows_out_of_order_are_refused(small, expected):
    swapped = pa.concat_tables([small.slice(1, 1), small.slice(0, 1), small.slice(2)])
    with pytest.raises(BadFile, match="out of order"):
        tables.check(swapped, expected)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("unit", "elsewhere", "foreign unit"),
        ("target_region", "roof", "foreign target_region"),
        ("outcome", "running", "unknown outcome"),
        ("outcome", "lost", "unknown outcome"),
        ("save", None, "empty entries"),
    ],
)
def test_values_that_contradict_the_key_are_refused(small, expected, column, value, words):
    with pytest.raises(BadFile, match=words):
        tables.check(with_value(small, column, 3, value), expected)


def test_a_save_that_contradicts_its_outcome_is_refused(small, expected):
    flipped = with_value(small, "save", 3, not small["save"][3].as_py())
    with pytest.raises(BadFile, match="contradicts the outcome"):
        tables.check(flipped, expected)


def test_a_table_of_other_columns_is_refused(small):
    with pytest.raises(BadFile, match="differ from the schema in reward"):
        tables.check(small.drop_columns(["reward"]))
    odd = small.set_column(small.schema.get_field_index("steps"), "steps", small["steps"].cast(pa.int64()))
    with pytest.raises(BadFile, match="column steps of the episode table is int64"):
        tables.check(odd)


def test_a_damaged_file_is_named(small, tmp_path):
    path = tables.write(small, tmp_path / "episodes.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadFile, match=r"episodes\.parquet"):
        tables.read(path)
    with pytest.raises(BadFile, match=r"nothing\.parquet"):
        tables.read(tmp_path / "nothing.parquet")


def test_saves_are_laid_out_by_shot_unit_length_and_disturbance(small):
    dense = saves(small)
    assert dense.shot_ids == tuple(sorted(dense.shot_ids))
    assert dense.units == tuple(sorted({shot.unit for shot in MEMBERS}))
    assert dense.seeds == {"gru_n64": SEEDS[:2], "structured_k0": SEEDS[:2], "teacher": (0,)}
    for row in range(0, small.num_rows, 11):
        where, save = tables.key(small, row), small["save"][row].as_py()
        seed = dense.seeds[where["policy"]].index(where["training_seed"])
        at = dense.at(where["policy"], where["blackout"], where["disturbance"])
        assert at[seed, dense.shot_ids.index(where["shot_id"])] == save
    assert dense.unit_sizes().tolist() == [2.0] * 3 + [1.0] * 6
    for policy in POLICIES:
        assert dense.by_unit(policy, 20).sum() == dense.at(policy, 20).sum()
    assert dense.families() == ("gru_n64", "structured_k0")


def test_families_of_unlike_seeds_cannot_be_paired():
    uneven = table({"a": (1, 2), "b": (1, 3)}, lambda *_: True, members=MEMBERS)
    with pytest.raises(BadInput, match="different training seeds"):
        saves(uneven).families()


def test_unknown_policies_and_conditions_are_named(small):
    dense = saves(small)
    with pytest.raises(BadInput, match="no policy 'ppo'"):
        dense.at("ppo", 20)
    with pytest.raises(BadInput, match="no blackout of 7"):
        dense.at("teacher", 7)
    with pytest.raises(BadInput, match="no disturbance 'rain'"):
        dense.at("teacher", 20, "rain")


def test_statistics_are_made_of_one_split(small):
    other = random_table(POLICIES, SEEDS[:2], members=MEMBERS, split="sealed_test")
    both = pa.concat_tables([small, other])
    with pytest.raises(BadInput, match="principal_test, sealed_test"):
        saves(both)
    assert saves(both, "sealed_test").split == "sealed_test"
