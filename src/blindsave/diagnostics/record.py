"""Play one episode and keep everything a picture needs."""

import numpy as np

from blindsave.arena.constants import CONTROL_DT_S
from blindsave.diagnostics.probe import Probe, features
from blindsave.draw.policy_looks import plain_words
from blindsave.draw.recording import Recording
from blindsave.policies.base import Policy
from blindsave.policies.closed_loop import ClosedLoop
from blindsave.task.conditions import CLEAN_NAME
from blindsave.task.episode import Episode
from blindsave.task.interface import PUCK, mallet_m, puck_m, to_table
from blindsave.task.outcomes import Outcome


def record(policy: Policy, episode: Episode, probe: Probe | None = None) -> Recording:
    """Play an episode with a policy and return everything that happened.

    With a probe also where the policy's memory has the puck while it is hidden: only hidden pucks were ever fitted.
    """
    loop = ClosedLoop(policy, [episode], threads=1)
    batch = loop.batch
    qpos, visible, seen, asked, believed = [], [], [], [], []
    while True:
        qpos.append(batch.qpos[0].copy())
        visible.append(bool(batch.visible[0]))
        seen.append(batch.obs[0, PUCK].copy())
        believed.append((np.nan, np.nan))
        if not len(loop.running):
            break
        action = loop.ask()
        asked.append(action[0])
        if probe is not None and not visible[-1]:
            believed[-1] = tuple(probe.position_mm(features(loop.carry, batch.obs))[0] / 1000.0)
        loop.act(action)
    shown, outcome = np.array(visible), Outcome(int(batch.outcome[0]))
    return Recording(
        qpos=np.array(qpos),
        visible=shown,
        seen=np.where(shown[:, None], to_table(puck_m(np.array(seen))), np.nan),
        target=to_table(mallet_m(np.clip([*asked, asked[-1]], -1, 1))),
        locked_steps=episode.locked_steps,
        title=title(episode, policy.name),
        outcome=outcome.label,
        saved=outcome.saved,
        first_contact=int(batch.first_contact[0]),
        believed=None if probe is None else np.array(believed),
    )


def title(episode: Episode, name: str, under: str = CLEAN_NAME) -> str:
    """Say what is played: the policy in plain words and by name, and what its tracker does."""
    plain = plain_words(name)
    return f"{plain if plain == name else f'{plain} ({name})'}     {conditions(episode, under)}"


def conditions(episode: Episode, under: str = CLEAN_NAME) -> str:
    """Say how long the puck is hidden, and the name of the condition, if it is known."""
    hidden_ms = round(1000 * CONTROL_DT_S * int((~episode.tracking.visible).sum()))
    told, parts = f"puck hidden for {hidden_ms} ms", ("offset", "source", "reported", "place", "field")
    if under != CLEAN_NAME:
        return f"{told}, {under}"
    return told + (", faulty tracking" if any(getattr(episode.tracking, part) is not None for part in parts) else "")
