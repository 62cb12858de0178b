"""Export a dataset to Minari, the Farama Foundation's standard for offline datasets (extra `export`)."""

import os
import re
from dataclasses import replace
from pathlib import Path

import gymnasium
import numpy as np

from blindsave.errors import BadInput
from blindsave.learning.distil.dataset import Dataset, Episodes
from blindsave.registration import ENV_ID
from blindsave.task.interface import ACTION_FLOATS
from blindsave.task.outcomes import Outcome
from blindsave.task.reward import FIRST_CONTACT, reward
from blindsave.task.shots import shots

FOLDER_VARIABLE = "MINARI_DATASETS_PATH"
NAME = re.compile(r"([A-Za-z0-9_-]{1,64}/){0,3}[A-Za-z0-9_]{1,64}(-[A-Za-z0-9_]{1,64}){0,8}-v[0-9]{1,9}")
TIMEOUTS = (Outcome.TIMEOUT_AFTER_CONTACT, Outcome.TIMEOUT_WITHOUT_CONTACT)


def rewards(data: Episodes, episode: int) -> np.ndarray:
    """The reward of every step of an episode: a touch, and the end."""
    values = np.zeros(int(data.steps[episode]))
    values[-1] = reward(Outcome(int(data.outcome[episode])), first_contact=False)
    if data.first_contact[episode] >= 1:
        values[data.first_contact[episode] - 1] += FIRST_CONTACT
    return values


def target_of(name: str, folder: Path) -> Path:
    """Where the dataset `name` goes below `folder`; refuses a name that Minari would, or that exists already."""
    if not NAME.fullmatch(name):
        raise BadInput(f"a Minari dataset is named like blindsave/episodes-v0, with a version at the end, not '{name}'")
    target = Path(folder).resolve() / name
    if target.exists():
        raise BadInput(f"{target} already exists")
    return target


def export_minari(dataset: Dataset, name: str, folder: Path) -> Path:
    """Write the episodes as the Minari dataset `name` (such as "blindsave/base-v0") below `folder`.

    Observations, requested actions, rewards and ends are Minari's own fields; the teacher's labels are in
    `infos["label"]`, and the shot and blackout length in each episode's options: `reset` of the environment that
    `recover_environment()` gives takes them. Minari keeps infos as it keeps observations, one more than actions, so the
    last row of the labels is zero and means nothing.
    """
    import minari
    from minari.data_collector import EpisodeBuffer

    target = target_of(name, folder)
    data, known = dataset.episodes, shots(dataset.schedule.split)
    spec = replace(gymnasium.spec(ENV_ID), kwargs={"split": dataset.schedule.split})
    buffers = []
    for i in range(len(data)):
        rows, steps = data.rows(i), int(data.steps[i])
        ends = np.arange(steps) == steps - 1
        timeout = Outcome(int(data.outcome[i])) in TIMEOUTS
        # One per observation, as Minari keeps infos: the last one stands for the end, where nobody acts.
        labels = np.concatenate([data.label[rows], np.zeros((1, ACTION_FLOATS), np.float32)])
        buffers.append(
            EpisodeBuffer(
                id=i,
                seed=int(data.seed[i]),
                options={"shot": known[data.shot[i]].id, "blackout": int(data.blackout[i])},
                observations=np.concatenate([data.obs[rows], data.final_obs[i : i + 1]]),  # pyright: ignore
                actions=np.asarray(data.action[rows]),  # pyright: ignore
                rewards=rewards(data, i).tolist(),
                terminations=(ends & (not timeout)).tolist(),
                truncations=(ends & timeout).tolist(),
                infos={"label": labels},
            )
        )
    before = os.environ.get(FOLDER_VARIABLE)
    os.environ[FOLDER_VARIABLE] = str(Path(folder).resolve())  # the only way to tell Minari where to write
    try:
        minari.create_dataset_from_buffers(
            name,
            buffers,
            env=spec,
            eval_env=spec,
            algorithm_name=dataset.configuration["behaviour"],
            author="blindsave",
            author_email="blindsave@example.org",
            code_permalink="https://example.org/blindsave",
            description=f"blindsave episodes of {dataset.configuration['behaviour']}, labels in infos",
        )
    finally:
        if before is None:
            del os.environ[FOLDER_VARIABLE]
        else:
            os.environ[FOLDER_VARIABLE] = before
    return target
