import numpy as np
import pyarrow as pa
from synthetic_tables import SEEDS, shot_rows, table

from blindsave.evidence import summaries
from blindsave.evidence.saves import saves

MEMBERS = shot_rows(2, (1, 0, 0, 1))
TABLE = table(
    {"a": SEEDS[:2], "teacher": (0,)},
    lambda p, seed, shot, blackout, _: p == "teacher" or (seed == SEEDS[0] and blackout == 0),
    blackouts=(0, 20),
    disturbances=("clean", "noise_5mm"),
    members=MEMBERS,
)


def test_saves_are_counted_by_policy_length_and_seed():
    assert summaries.saves_by_seed(saves(TABLE)) == {
        "a": {0: {"14303": 6, "14304": 0}, 20: {"14303": 0, "14304": 0}},
        "teacher": {0: {"0": 6}, 20: {"0": 6}},
    }


def test_outcomes_are_counted_by_condition():
    found = summaries.outcome_counts(TABLE)
    assert found["a"]["0"] == {"goal_conceded": 6, "returned": 6}
    assert found["teacher"]["20+noise_5mm"] == {"returned": 6}
    assert sum(n for cells in found.values() for cell in cells.values() for n in cell.values()) == TABLE.num_rows


def test_faults_are_found_and_none_where_there_are_none():
    assert summaries.faults(TABLE) == []
    outcomes = ["simulator_fault", *TABLE["outcome"].to_pylist()[1:]]
    broken = TABLE.set_column(TABLE.schema.get_field_index("outcome"), "outcome", pa.array(outcomes))
    assert [row["shot_id"] for row in summaries.faults(broken)] == [TABLE["shot_id"][0].as_py()]


def test_action_error_is_averaged_over_labelled_episodes_only():
    assert summaries.action_error(TABLE) == {}
    error = [1.0, None] * (TABLE.num_rows // 2)
    column = pa.array(np.array(error, object), pa.float32())
    labelled = TABLE.set_column(TABLE.schema.get_field_index("action_mse"), "action_mse", column)
    assert summaries.action_error(labelled)["a"] == {"0": 1.0, "20": 1.0}
