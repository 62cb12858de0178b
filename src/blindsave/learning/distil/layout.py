"""How a batch of episodes of different lengths is laid out so that little work is spent on padding.

The episodes of a batch are sorted, longest first. Time is cut into segments, and in each segment only as many episodes
are kept as have steps left in the fullest batch of the whole training, which is known beforehand because every epoch's
order is a function of seed and epoch. Shapes are therefore fixed, and the loss is exactly that of the padded batch.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadInput

Lengths = NDArray[np.int64]


@dataclass(frozen=True)
class Segment:
    """Steps `start` to `stop` of the `episodes` longest episodes of a batch."""

    start: int
    stop: int
    episodes: int

    @property
    def rows(self) -> int:
        """Steps computed."""
        return (self.stop - self.start) * self.episodes


@dataclass(frozen=True)
class BatchLayout:
    """Segments one after another; inside a segment rows are time-major."""

    segments: tuple[Segment, ...]
    batch: int

    @property
    def rows(self) -> int:
        """Steps computed per batch."""
        return sum(segment.rows for segment in self.segments)

    def holds(self, longest: "Lengths") -> bool:
        """Whether batches with at most so long an episode at each rank fit."""
        kept = all(int((longest > segment.start).sum()) <= segment.episodes for segment in self.segments)
        return kept and int(longest.max()) <= self.segments[-1].stop

    @property
    def time(self) -> NDArray[np.int32]:
        """The time of every row."""
        parts = [np.repeat(np.arange(s.start, s.stop), s.episodes) for s in self.segments]
        return np.concatenate(parts).astype(np.int32)

    @property
    def rank(self) -> NDArray[np.int32]:
        """Every row's episode, counted from the longest."""
        parts = [np.tile(np.arange(s.episodes), s.stop - s.start) for s in self.segments]
        return np.concatenate(parts).astype(np.int32)


def permutation(seed: int, epoch: int, count: int) -> NDArray[np.int64]:
    """The order of the training episodes in an epoch: NumPy's generator seeded with (seed, epoch)."""
    return np.random.default_rng([seed, epoch]).permutation(count)


def batches(order: NDArray[np.int64], lengths: Lengths, batch: int) -> NDArray[np.int32]:
    """Cut an order into batches (n, batch), each sorted longest first; -1 fills the last one."""
    padded = np.full(-(-len(order) // batch) * batch, -1, np.int64)
    padded[: len(order)] = order
    groups = padded.reshape(-1, batch)
    ranked = np.argsort(-_lengths_of(groups, lengths), axis=1, kind="stable")
    return np.take_along_axis(groups, ranked, axis=1).astype(np.int32)


def balanced_groups(lengths: Lengths, batch: int) -> NDArray[np.int32]:
    """All episodes dealt into groups of about `batch` with nearly equal lengths, longest first: for evaluation."""
    order = np.argsort(-lengths, kind="stable")
    groups = max(1, -(-len(order) // batch))
    padded = np.full(-(-len(order) // groups) * groups, -1, np.int64)
    padded[: len(order)] = order
    return padded.reshape(-1, groups).T.astype(np.int32)


def envelope(groups: Iterable[NDArray[np.integer]], lengths: Lengths) -> Lengths:
    """The longest episode at each rank, over any number of arrays of batches."""
    longest: Lengths | None = None
    for group in groups:
        top = _lengths_of(group, lengths).max(axis=0)
        longest = top if longest is None else np.maximum(longest, top)
    if longest is None or longest.max(initial=0) < 1:
        raise BadInput("there are no steps to train on")
    return longest


def make_layout(longest: Lengths, chunk: int, segment: int, multiple: int = 8) -> BatchLayout:
    """Cut time at multiples of `segment` and of `chunk`, drop the ranks that have ended, merge equal neighbours."""
    end = int(longest.max())
    cuts = sorted({0, end, *range(segment, end, segment), *range(chunk, end, chunk)})
    segments: list[Segment] = []
    for start, stop in itertools.pairwise(cuts):
        alive = int((longest > start).sum())
        kept = min(len(longest), -(-alive // multiple) * multiple)
        last = segments[-1] if segments else None
        if last and last.episodes == kept and start % chunk:
            segments[-1] = Segment(last.start, stop, kept)
        else:
            segments.append(Segment(start, stop, kept))
    return BatchLayout(tuple(segments), len(longest))


def training_layout(
    lengths: Lengths, seeds: Sequence[int], epochs: int, batch: int, chunk: int, segment: int
) -> BatchLayout:
    """The layout that fits every batch of every epoch of every seed."""
    orders = (permutation(seed, epoch, len(lengths)) for seed in seeds for epoch in range(1, epochs + 1))
    return make_layout(envelope((batches(order, lengths, batch) for order in orders), lengths), chunk, segment)


def _lengths_of(groups: NDArray[np.integer], lengths: Lengths) -> Lengths:
    return np.where(groups < 0, 0, lengths[groups])
