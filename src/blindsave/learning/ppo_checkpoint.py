"""Everything a PPO run is, in one safetensors file: a restored run continues bit for bit.

Parameters, optimiser moments, the generators of torch, NumPy and every place, and the unfinished episodes themselves.
"""

# pyright: reportMissingImports=false
# (Types are checked without the extra `ppo`, too.)

from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO

from blindsave import tensors
from blindsave.errors import BadFile, BadInput
from blindsave.learning.ppo_env import DefendVecEnv

FORMAT = "blindsave.ppo.checkpoint.v1"
MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save(path: Path, model: PPO, identity: dict[str, Any]) -> None:
    """Write the learner between two rollouts, whole or not at all."""
    env = _env(model)
    arrays = {f"parameter.{name}": p.detach().numpy() for name, p in model.policy.named_parameters()}
    for name, p in model.policy.named_parameters():
        state = model.policy.optimizer.state[p]
        arrays |= {f"{moment}.{name}": state[moment].numpy() for moment in MOMENTS if moment in state}
    legacy = np.random.get_state(legacy=False)
    arrays |= {
        "torch_generator": torch.get_rng_state().numpy(),
        "numpy_generator": legacy["state"]["key"],
        "last_observation": np.asarray(model._last_obs),
        "last_starts": np.asarray(model._last_episode_starts).astype(np.uint8),
    }
    for place in range(env.num_envs):
        arrays[f"place.{place}"] = np.frombuffer(env.batch.snapshot(place), np.uint8)
    state = {
        "steps": model.num_timesteps,
        "updates": model._n_updates,
        "numpy_generator": {k: v for k, v in legacy.items() if k != "state"} | {"pos": legacy["state"]["pos"]},
        "place_generators": [rng.bit_generator.state for rng in env.generators],
        "blackouts": env.blackouts,
    }
    tensors.write(path, arrays, {"format": FORMAT, "identity": identity, "state": state})


def restore(path: Path, model: PPO, identity: dict[str, Any], until: int | None = None) -> None:
    """Put a checkpoint into a freshly built learner of the same configuration.

    A run that already took `until` steps needs its unfinished episodes no more, so that a finished checkpoint
    outlives changes of the arena.
    """
    arrays, metadata = tensors.read(path)
    if metadata.get("format") != FORMAT:
        raise BadFile(f"{path} is not a PPO checkpoint of format {FORMAT}")
    if metadata["identity"] != identity:
        raise BadInput(f"{path} belongs to a run with another configuration; choose another folder or delete it")
    state, env = metadata["state"], _env(model)
    optimizer = model.policy.optimizer
    for name, p in model.policy.named_parameters():
        p.data.copy_(torch.from_numpy(arrays[f"parameter.{name}"]))
        moments = {m: torch.from_numpy(arrays[key]) for m in MOMENTS if (key := f"{m}.{name}") in arrays}
        if moments:
            optimizer.state[p] = moments
    torch.set_rng_state(torch.from_numpy(arrays["torch_generator"]))
    numpy_state = dict(state["numpy_generator"])
    numpy_state["state"] = {"key": arrays["numpy_generator"], "pos": numpy_state.pop("pos")}
    np.random.set_state(numpy_state)
    model.num_timesteps, model._n_updates = state["steps"], state["updates"]
    model._last_obs = arrays["last_observation"]
    model._last_episode_starts = arrays["last_starts"].astype(bool)
    if until is None or model.num_timesteps < until:
        _restore_episodes(path, env, arrays, state)


def _restore_episodes(path: Path, env: DefendVecEnv, arrays: dict[str, np.ndarray], state: dict[str, Any]) -> None:
    env.blackouts[:] = state["blackouts"]
    for place, generator in enumerate(state["place_generators"]):
        env.generators[place].bit_generator.state = generator
        try:
            env.batch.restore(place, arrays[f"place.{place}"].tobytes())
        except ValueError as error:
            raise BadFile(f"{path} holds episodes of another version of the arena: {error}") from error


def _env(model: PPO) -> DefendVecEnv:
    env = model.get_env()
    assert isinstance(env, DefendVecEnv)
    return env
