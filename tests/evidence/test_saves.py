"""Saves as arrays: every save at its place, sums by unit, and clear refusals."""

import numpy as np
import pyarrow as pa
import pytest
from synthetic_tables import shot_rows, table

from blindsave.errors import BadInput, BlindsaveError
from blindsave.evidence.saves import saves

MEMBERS = shot_rows(2, (1, 0, 0, 1))
RUNS = {"gru_n64": (2, 1), "teacher": (0,)}


def decide(policy, seed, shot, blackout, disturbance):
    """Different for every cell, so that nothing can be misplaced unnoticed."""
    return hash_of(policy, seed, shot.shot_id, blackout, disturbance) % 3 > 0


def hash_of(*parts) -> int:
    return sum((i + 1) * byte for i, byte in enumerate("/".join(map(str, parts)).encode()))


@pytest.fixture(scope="module")
def found():
    return saves(table(RUNS, decide, (5, 20), ("clean", "noise_5mm"), MEMBERS))


def test_every_save_is_found_at_its_place(found):
    for policy, seeds in found.seeds.items():
        assert seeds == tuple(sorted(RUNS[policy]))
        for blackout in (5, 20):
            for disturbance in ("clean", "noise_5mm"):
                expected = [
                    [hash_of(policy, seed, shot, blackout, disturbance) % 3 > 0 for shot in found.shot_ids]
                    for seed in seeds
                ]
                np.testing.assert_array_equal(found.at(policy, blackout, disturbance), expected)


def test_shots_are_sorted_and_know_their_unit(found):
    assert list(found.shot_ids) == sorted(found.shot_ids)
    assert len(found.units) == 4  # two pairs, two support shots
    for shot, unit, alias in zip(found.shot_ids, found.unit_of, found.is_alias, strict=True):
        assert shot.startswith(found.units[unit])
        assert alias == (":alias:" in shot)
    assert found.unit_sizes().tolist() == [2, 2, 1, 1]


def test_saves_by_unit_are_sums_over_its_shots(found):
    alone = found.at("gru_n64", 20)
    expected = [alone[:, found.unit_of == unit].sum(1) for unit in range(4)]
    np.testing.assert_array_equal(found.by_unit("gru_n64", 20), np.transpose(expected))


def test_a_group_counts_only_its_own_shots(found):
    group = found.is_alias
    assert found.unit_sizes(group).tolist() == [2, 2, 0, 0]
    assert not found.by_unit("gru_n64", 20, group=group)[:, 2:].any()
    np.testing.assert_array_equal(found.by_unit("gru_n64", 20, group=group)[:, :2], found.by_unit("gru_n64", 20)[:, :2])


def test_only_policies_with_training_seeds_are_families(found):
    assert found.families() == ("gru_n64",)
    assert found.training_seeds() == (1, 2)
    assert saves(table({"teacher": (0,)}, decide, members=MEMBERS)).training_seeds() == ()


def test_families_of_different_seeds_cannot_be_paired():
    mixed = saves(table({"gru_n64": (1, 2), "lru_n32": (1, 3)}, decide, members=MEMBERS))
    with pytest.raises(BadInput, match="lru_n32 and gru_n64 have different training seeds"):
        mixed.families()


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (("ppo", 20, "clean"), "no policy 'ppo'; it holds gru_n64, teacher"),
        (("teacher", 25, "clean"), r"no blackout of 25 steps; it holds \(5, 20\)"),
        (("teacher", 20, "fog"), "no disturbance 'fog'"),
    ],
)
def test_a_condition_that_was_not_played_is_refused_with_what_was(found, cell, reason):
    with pytest.raises(BadInput, match=reason):
        found.at(*cell)


def test_one_split_at_a_time():
    both = pa.concat_tables(
        [table({"teacher": (0,)}, decide, members=MEMBERS, split=split) for split in ("principal_test", "validation")]
    )
    with pytest.raises(BadInput, match="one split at a time; the table holds: principal_test, validation"):
        saves(both)
    assert saves(both, "validation").split == "validation"


def test_a_table_with_a_hole_is_refused():
    whole = table(RUNS, decide, (5, 20), ("clean",), MEMBERS)
    with pytest.raises(BlindsaveError):
        saves(pa.concat_tables([whole.slice(0, 7), whole.slice(8)]))
