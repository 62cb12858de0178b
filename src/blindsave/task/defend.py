"""The defence task, batched: reset episodes, step them together, read outcomes. Compiled core or plain reference."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from blindsave.arena import native
from blindsave.arena.simulator import Backend, choose_backend
from blindsave.errors import BadInput
from blindsave.task.episode import Episode, records
from blindsave.task.interface import OBSERVATION_FLOATS, TRUTH_FLOATS
from blindsave.task.results import EpisodeResults

# Mirrors bs_defend_row in core/defend.h.
ROW = np.dtype(
    [
        ("reward", "f8"),
        ("score", "f8"),
        ("truth", "f8", TRUTH_FLOATS),
        ("obs", "f4", OBSERVATION_FLOATS),
        ("steps", "i2"),
        ("first_contact", "i2"),
        ("outcome", "i1"),
        ("touched", "?"),
        ("visible", "?"),
        ("locked", "?"),
        ("padding", "V4"),
    ]
)


class DefendBatch:
    """n places where episodes of the defence task run side by side.

    After `reset` or `step`, these arrays describe every place: `obs` (n, 19) float32 is all a policy may see;
    `reward`, `score` (its sum), `outcome` (codes of `Outcome`, 0 while running), `steps`, `first_contact` (-1 if none),
    `touched`, `visible`, `locked` are for the experimenter; `truth` (n, 4), the puck's x, y, vx, vy in the robot frame,
    and `qpos` (n, 12) are privileged. They are views that the next call overwrites.
    """

    obs: NDArray[np.float32]
    reward: NDArray[np.float64]
    score: NDArray[np.float64]
    outcome: NDArray[np.int8]
    steps: NDArray[np.int16]
    first_contact: NDArray[np.int16]
    touched: NDArray[np.bool_]
    visible: NDArray[np.bool_]
    locked: NDArray[np.bool_]
    truth: NDArray[np.float64]
    qpos: NDArray[np.float64]

    _core: Any

    def __init__(self, n: int, *, threads: int | None = None, backend: Backend = "auto") -> None:
        if n < 1:
            raise BadInput(f"a batch needs at least one place, got {n}")
        self.n, self.threads, self.backend = n, native.threads_or_default(threads), choose_backend(backend)
        if self.backend == "native":
            self._rows, self._arena_rows = np.zeros(n, ROW), np.zeros(n, native.ROW)
            self._core = native.make_core(n, self.threads, self._arena_rows, self._rows)
            for name in ROW.names or ():
                setattr(self, name, self._rows[name])
            self.qpos = self._arena_rows["qpos"]
        else:
            from blindsave.task.reference import ReferenceDefend

            self._core = ReferenceDefend(n)
            for name in (*(ROW.names or ())[:-1], "qpos"):
                setattr(self, name, getattr(self._core, name))
        self.outcome[:] = -1  # nothing has been started yet

    def reset(self, episodes: Sequence[Episode], ids: ArrayLike | None = None) -> None:
        """Start one episode in each chosen place."""
        chosen = native.as_ids(ids, self.n)
        places = range(self.n) if chosen is None else chosen
        if len(episodes) != len(places):
            raise BadInput(f"{len(places)} places need as many episodes, got {len(episodes)}")
        if self.backend == "reference":
            self._core.reset(episodes, chosen)
            return
        for place, record in zip(places, records(episodes), strict=True):
            self._core.track(int(place), record)
        self._core.defend_reset(np.array([e.shot.launch for e in episodes], np.float64), chosen)

    def step(self, actions: ArrayLike, ids: ArrayLike | None = None) -> None:
        """Run one control step in each chosen place; every one of them must have an unfinished episode."""
        chosen = native.as_ids(ids, self.n)
        checked = native.as_actions(actions, self.n if chosen is None else len(chosen))
        finished = np.flatnonzero(self.outcome if chosen is None else self.outcome[chosen])
        if len(finished):
            place = int(finished[0] if chosen is None else chosen[finished[0]])
            raise BadInput(f"place {place} has no running episode; reset it before stepping")
        if self.backend == "reference":
            self._core.step(checked, chosen)
        else:
            self._core.defend_step(checked, chosen)

    def rollout(self, capsule: object, episodes: Sequence[Episode], results: EpisodeResults) -> None:
        """Run whole episodes of a native policy (a "blindsave.policy" capsule) without Python in between.

        What happens is written into `results`, as many as there are episodes. Independent of the n places, whose
        episodes are left alone. Needs the compiled core.
        """
        if self.backend != "native":
            raise BadInput("whole native episodes need the compiled core")
        m = len(episodes)
        rows = np.zeros(m, ROW)
        self._core.rollout(
            capsule,
            np.array([e.shot.launch for e in episodes], np.float64).reshape(m, 6),
            records(episodes),
            rows,
            results.obs,
            results.actions,
            results.truth,
        )
        results.outcome[:], results.steps[:] = rows["outcome"], rows["steps"]
        results.first_contact[:], results.reward[:] = rows["first_contact"], rows["score"]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by what made the batch and a snapshot of every place that was started."""
        started = [i for i in range(self.n) if self.outcome[i] >= 0]
        snapshots = {i: self.snapshot(i) for i in started}
        return _revived, (self.n, self.threads, self.backend, snapshots)

    def snapshot(self, index: int) -> bytes:
        """Return everything place `index` is; `restore` continues from it bit-identically."""
        return self._core.snapshot(index)

    def restore(self, index: int, snapshot: bytes) -> None:
        """Put a snapshot into place `index`, which need not be the one it came from."""
        self._core.restore(index, snapshot)


def _revived(n: int, threads: int, backend: Backend, snapshots: dict[int, bytes]) -> DefendBatch:
    batch = DefendBatch(n, threads=threads, backend=backend)
    for index, snapshot in snapshots.items():
        batch.restore(index, snapshot)
    return batch
