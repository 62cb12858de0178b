import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.learning.distil.layout import (
    balanced_groups,
    batches,
    envelope,
    make_layout,
    permutation,
    training_layout,
)

lengths_lists = st.lists(st.integers(1, 125), min_size=3, max_size=60)


@settings(max_examples=60, deadline=None)
@given(lengths_lists, st.integers(1, 16), st.sampled_from([1, 8, 16, 64]))
def test_every_step_of_every_batch_has_exactly_one_row(lengths, batch, segment):
    lengths = np.array(lengths)
    layout = training_layout(lengths, [1, 2], 3, min(batch, len(lengths)), 64, segment)
    cells = list(zip(layout.rank.tolist(), layout.time.tolist(), strict=True))
    assert len(cells) == len(set(cells)) == layout.rows
    for seed in (1, 2):
        for epoch in (1, 2, 3):
            for group in batches(permutation(seed, epoch, len(lengths)), lengths, layout.batch):
                needed = {(r, t) for r, i in enumerate(group) if i >= 0 for t in range(lengths[i])}
                assert needed <= set(cells)


@settings(max_examples=60, deadline=None)
@given(lengths_lists, st.integers(1, 16))
def test_batches_hold_every_episode_once_longest_first(lengths, batch):
    lengths = np.array(lengths)
    groups = batches(permutation(7, 1, len(lengths)), lengths, batch)
    assert sorted(groups[groups >= 0].tolist()) == list(range(len(lengths)))
    for group in groups:
        ranked = np.where(group < 0, 0, lengths[group])
        assert (np.diff(ranked) <= 0).all()


@settings(max_examples=60, deadline=None)
@given(lengths_lists, st.integers(1, 16))
def test_dealt_groups_hold_every_episode_once(lengths, batch):
    groups = balanced_groups(np.array(lengths), batch)
    assert sorted(groups[groups >= 0].tolist()) == list(range(len(lengths)))


def test_segments_never_cross_the_boundary_where_gradients_stop():
    layout = make_layout(np.full(8, 125), chunk=64, segment=64)
    assert [(s.start, s.stop) for s in layout.segments] == [(0, 64), (64, 125)]


def test_short_batches_are_not_padded_to_the_longest_possible_episode():
    lengths = np.where(np.arange(2000) % 10 == 0, 125, 36)
    layout = training_layout(lengths, [1], 5, 128, 64, 16)
    assert layout.rows < 0.62 * 128 * 128
    valid = lengths.sum() / (len(lengths) / 128)
    assert valid / layout.rows > 0.55


def test_the_order_of_an_epoch_depends_on_seed_and_epoch_alone():
    assert np.array_equal(permutation(5, 2, 100), permutation(5, 2, 100))
    assert not np.array_equal(permutation(5, 2, 100), permutation(5, 3, 100))
    assert not np.array_equal(permutation(5, 2, 100), permutation(6, 2, 100))


def test_nothing_to_train_on_is_refused():
    with pytest.raises(BadInput, match="no steps"):
        envelope([np.full((1, 4), -1)], np.array([3]))
