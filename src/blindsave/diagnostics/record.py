"""Play one episode and keep everything a picture needs."""

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.constants import CONTROL_DT_S, MALLET_BOX_M, PUCK_BOX_M, ROBOT_BASE_M
from blindsave.draw.recording import Recording
from blindsave.policies.base import Policy
from blindsave.policies.scripted import Privileged
from blindsave.task.defend import DefendBatch
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome

SEEN_PUCK = slice(16, 18)  # in the observation


def record(policy: Policy | Privileged, episode: Episode) -> Recording:
    """Play an episode with a policy and return everything that happened."""
    batch, carry = DefendBatch(1, threads=1), policy.initial(1)
    batch.reset([episode])
    qpos, visible, seen, targets = [], [], [], []
    while True:
        qpos.append(batch.qpos[0].copy())
        visible.append(bool(batch.visible[0]))
        seen.append(_on_table(batch.obs[0, SEEN_PUCK], PUCK_BOX_M))
        if batch.outcome[0] != Outcome.RUNNING:
            break
        carry, action = _ask(policy, carry, batch)
        targets.append(_on_table(np.clip(action[0], -1, 1), MALLET_BOX_M))
        batch.step(action)
    shown, outcome = np.array(visible), Outcome(int(batch.outcome[0]))
    return Recording(
        qpos=np.array(qpos),
        visible=shown,
        seen=np.where(shown[:, None], np.array(seen), np.nan),
        target=np.array([*targets, targets[-1]]),
        locked_steps=episode.locked_steps,
        title=title(episode, policy.name),
        outcome=outcome.label,
        saved=outcome.saved,
        first_contact=int(batch.first_contact[0]),
    )


def _ask(
    policy: Policy | Privileged, carry: NDArray[np.float32], batch: DefendBatch
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """One step of the policy; only a privileged one is told the truth."""
    if isinstance(policy, Privileged):
        return policy.step(carry, batch.obs.copy(), batch.truth.copy())
    return policy.step(carry, batch.obs.copy())


def title(episode: Episode, name: str) -> str:
    """Say what is played: shot, policy and how long the puck is hidden."""
    hidden_ms = round(1000 * CONTROL_DT_S * int((~episode.tracking.visible).sum()))
    noise = ", noisy tracking" if episode.tracking.offset is not None else ""
    shot, player = episode.shot.id.partition(":")[2], name.replace("_", " ")
    return f"{shot}     {player}     hidden for {hidden_ms} ms{noise}"


def _on_table(normalised: NDArray[np.floating], box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised robot-frame position to the table frame, metres."""
    low, high = box
    return low + (normalised.astype(np.float64) + 1) / 2 * (high - low) + np.asarray(ROBOT_BASE_M[:2])
