"""The defence task in plain Python: the oracle of the compiled core, and its stand-in where there is no compiler."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.reference import ReferenceArena
from blindsave.errors import BadInput
from blindsave.task.defend import ROW
from blindsave.task.episode import Episode, records
from blindsave.task.interface import MALLET, MEASURED, PUCK, VISIBLE, to_robot
from blindsave.task.outcomes import Outcome, judge
from blindsave.task.reward import reward
from blindsave.task.tracking import OBSERVATIONS, RECORD, field_error

# What a running episode needs besides its arena and its row of results.
EPISODE = np.dtype(
    [
        ("conditions", RECORD),
        ("measured", "f8", (OBSERVATIONS, 2)),
        ("slow_steps", "i4"),
    ]
)


class ReferenceDefend:
    """n places for episodes, with the face of `DefendBatch`, whose documentation says what the arrays mean."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._arena = ReferenceArena(n)
        self._episodes = np.zeros(n, EPISODE)
        self._rows = row = np.zeros(n, ROW)
        self.obs, self.truth, self.qpos = row["obs"], row["truth"], self._arena.qpos
        self.reward, self.score, self.outcome = row["reward"], row["score"], row["outcome"]
        self.steps, self.first_contact, self.touched = row["steps"], row["first_contact"], row["touched"]
        self.visible, self.locked = row["visible"], row["locked"]

    def reset(self, episodes: Sequence[Episode], ids: Iterable[int] | None = None) -> None:
        """Start one episode in each chosen place."""
        places = self._places(ids)
        launches, drags = [e.shot.launch for e in episodes], [e.puck_drag for e in episodes]
        self._arena.reset(launches, places, puck_drag=drags)
        for i, record in zip(places, records(episodes), strict=True):
            self._episodes[i] = np.zeros((), EPISODE)
            self._episodes["conditions"][i] = record
            self._rows[i] = np.zeros((), ROW)
            self.first_contact[i] = -1
            self._observe(i)

    def step(self, actions: NDArray[np.float32], ids: Iterable[int] | None = None) -> None:
        """Run one control step in each chosen place."""
        places = self._places(ids)
        # While the lock is on, the mallet is told to stay where the policy sees it.
        locked = self.locked[places][:, None]
        self._arena.step(np.where(locked, self.obs[places, MALLET], actions), places)
        for i in places:
            self._judge(i)

    def snapshot(self, i: int) -> bytes:
        """Return everything that place `i` is."""
        return self._episodes[i].tobytes() + self._rows[i].tobytes() + self._arena.snapshot(i)

    def restore(self, i: int, snapshot: bytes) -> None:
        """Continue from a snapshot."""
        head = EPISODE.itemsize + ROW.itemsize
        if len(snapshot) < head:
            raise BadInput(f"this is not a snapshot of this batch: it has only {len(snapshot)} bytes")
        self._arena.restore(i, snapshot[head:])
        self._episodes[i] = np.frombuffer(snapshot[: EPISODE.itemsize], EPISODE)[0]
        self._rows[i] = np.frombuffer(snapshot[EPISODE.itemsize : head], ROW)[0]

    def _places(self, ids: Iterable[int] | None) -> list[int]:
        return list(range(self.n)) if ids is None else [int(i) for i in ids]

    def _judge(self, i: int) -> None:
        """Decide what the arena's last step means."""
        arena = self._arena
        self.steps[i] += 1
        first_contact = bool(arena.contact[i]) and not self.touched[i]
        if first_contact:
            self.touched[i], self.first_contact[i] = True, self.steps[i]
        x, y, vx, vy = (float(v) for v in (*arena.puck_pos[i, :2], *arena.puck_vel[i, :2]))
        outcome, self._episodes["slow_steps"][i] = judge(
            (x, y, vx, vy),
            touched=bool(self.touched[i]),
            absorbing=bool(arena.absorbing[i]),
            slow_steps=int(self._episodes["slow_steps"][i]),
            steps=int(self.steps[i]),
        )
        if arena.fault[i]:
            finite = np.isfinite(arena.qpos[i]).all() and np.isfinite(arena.qvel[i]).all()
            outcome = Outcome.SIMULATOR_FAULT if finite else Outcome.NON_FINITE_STATE
        self.outcome[i] = outcome
        self.reward[i] = reward(outcome, first_contact=first_contact)
        self.score[i] += self.reward[i]
        if not outcome.faulty:  # a broken simulation leaves the last sound observation in place
            self._observe(i)

    def _observe(self, i: int) -> None:
        """Build what the policy sees: disturb, hide, clip. Nothing else of the state leaves this function."""
        arena, episode, t = self._arena, self._episodes[i], int(self.steps[i])
        seen = arena.policy_obs[i, MEASURED].copy()
        episode["measured"][t] = seen[PUCK]
        seen[PUCK] = _tracked(episode, t)
        conditions = episode["conditions"]
        self.obs[i, MEASURED] = np.clip(seen, -1.0, 1.0)
        self.obs[i, VISIBLE] = self.visible[i] = conditions["visible"][t]
        self.locked[i] = t < conditions["locked_steps"]
        self.truth[i, :2] = to_robot(arena.puck_pos[i, :2])
        self.truth[i, 2:] = arena.puck_vel[i, :2]


def _tracked(episode: np.void, t: int) -> NDArray[np.float64]:
    """What the tracker says of the puck's position."""
    conditions = episode["conditions"]
    if not conditions["reported"][t]:
        return np.zeros(2)
    if conditions["replaced"][t]:
        return conditions["place"][t]
    measured = episode["measured"][conditions["source"][t]]
    position = measured.copy()
    if conditions["has_field"]:
        position += field_error(conditions["field"], *measured.tolist())
    if conditions["has_offset"]:
        position += conditions["offset"][t]
    return position
