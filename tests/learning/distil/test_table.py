"""Rows that a family trains on, and which episodes are for what."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil.table import encoder_inputs, split, table_rows
from blindsave.policies import arithmetic
from blindsave.policies.students import Family, MemoryCore, family
from blindsave.testing.training import random_episodes

DATA = random_episodes([3, 1, 4])


def test_a_row_is_observation_label_and_for_memories_the_previous_action():
    rows = table_rows(family("gru_n64"), DATA)
    np.testing.assert_array_equal(rows, np.concatenate([DATA.obs, DATA.label, DATA.previous], axis=1))
    assert table_rows(family("feed_forward"), DATA).shape == (8, 21)
    assert rows.dtype == np.float32


def test_a_stack_is_recorded_once_and_afresh_in_every_episode():
    kind = family("finite_stack_3")
    inputs = encoder_inputs(kind, DATA)
    for episode in range(len(DATA)):
        memory = np.zeros((1, 9), np.float32)
        rows = DATA.rows(episode)
        for row in range(rows.start, rows.stop):
            memory, expected = kind.core.observe(arithmetic, memory, DATA.obs[row : row + 1])
            np.testing.assert_array_equal(inputs[row], expected[0])


def test_a_core_that_learns_and_records_is_refused():
    @dataclass(frozen=True)
    class Both(MemoryCore):
        def observe(self, ops, memory, observation):
            return memory, observation

    with pytest.raises(BadInput, match="both: a core with a learned state cannot also change its memory in `observe`"):
        encoder_inputs(Family("both", Both()), DATA)


def test_the_last_digit_of_the_index_decides_the_part():
    data = replace(random_episodes([1] * 4), index=np.array([17, 128, 9, 20]))
    parts = split(data)
    assert {name: members.tolist() for name, members in parts.items()} == {
        "train": [0, 3],
        "validation": [1],
        "test": [2],
    }


@pytest.mark.parametrize(("indices", "missing"), [([8, 9], "train"), ([1, 2, 9], "validation")])
def test_without_training_or_validation_episodes_nothing_is_trained(indices, missing):
    data = replace(random_episodes([1] * len(indices)), index=np.array(indices))
    with pytest.raises(BadInput, match=f"there are no {missing} episodes"):
        split(data)


def test_test_episodes_may_be_missing():
    data = replace(random_episodes([1, 1]), index=np.array([0, 8]))
    assert not len(split(data)["test"])
