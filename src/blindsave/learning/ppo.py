"""The memoryless control: PPO by Stable-Baselines3 on the task's own batch, one seed at a time.

The policy sees the same 19 numbers as everybody else and keeps nothing between steps. What it cannot save under a
blackout, it cannot save for want of memory: that is all it is for. docs/memory-tests.md tells the rules.
"""

# pyright: reportMissingImports=false
# (Types are checked without the extra `ppo`, too.)

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import stable_baselines3
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.logger import configure

from blindsave.errors import BlindsaveError
from blindsave.learning import ppo_checkpoint
from blindsave.learning.ppo_env import BLACKOUTS, DefendVecEnv, Finished
from blindsave.policies.mlp import MLP, Layers
from blindsave.store import provenance, write_whole

SEEDS = (14303, 14304, 14305)
CHECKPOINT = "checkpoint.safetensors"
METRICS = "metrics.jsonl"
LOSSES = ("loss", "value_loss", "entropy_loss", "approx_kl", "clip_fraction", "explained_variance", "std")


@dataclass(frozen=True)
class PPOConfig:
    """Everything that decides a training run besides the code; the defaults are the study's."""

    seed: int = SEEDS[0]
    steps: int = 1_000_000
    """Environment steps asked for; whole rollouts are made, so slightly more are taken."""
    places: int = 8
    rollout_steps: int = 256
    """Steps per place between two updates."""
    batch: int = 1024
    epochs: int = 10
    hidden: tuple[int, int] = (256, 256)
    learning_rate: float = 3e-4
    discount: float = 0.99
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    value: float = 0.5
    gradient_norm: float = 0.5
    checkpoint_steps: int = 100_000


def build(config: PPOConfig) -> PPO:
    """A fresh learner: separate tanh networks for actor and critic, everything else as Stable-Baselines3 has it."""
    torch.set_num_threads(1)  # so small a network gains nothing from more, and sums keep their order
    torch.use_deterministic_algorithms(True)
    width = list(config.hidden)
    model = PPO(
        "MlpPolicy",
        DefendVecEnv(config.seed, config.places),
        learning_rate=config.learning_rate,
        n_steps=config.rollout_steps,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        vf_coef=config.value,
        max_grad_norm=config.gradient_norm,
        policy_kwargs={"net_arch": {"pi": width, "vf": width}, "activation_fn": torch.nn.Tanh},
        seed=config.seed,
        device="cpu",
    )
    model.set_logger(configure(None, []))
    return model


def train(config: PPOConfig, folder: Path, report: Callable[[dict[str, Any]], None] = lambda _: None) -> PPO:
    """Train to the end, continuing bit for bit from the folder's checkpoint if there is one.

    `report` receives one row per rollout, the rows of metrics.jsonl. A killed run loses at most the work since the
    last checkpoint, `checkpoint_steps` at most.
    """
    model = build(config)
    checkpoint = folder / CHECKPOINT
    if checkpoint.exists():
        ppo_checkpoint.restore(checkpoint, model, _identity(config), config.steps)
    rows = _kept_rows(folder / METRICS, model.num_timesteps)
    saved_at, started, start_steps = model.num_timesteps, time.perf_counter(), model.num_timesteps
    while model.num_timesteps < config.steps:
        model.learn(1, log_interval=None, reset_num_timesteps=False)  # pyright: ignore[reportArgumentType]
        speed = (model.num_timesteps - start_steps) / (time.perf_counter() - started)
        rows.append(_row(model, speed))
        report(rows[-1])
        due = model.num_timesteps // config.checkpoint_steps > saved_at // config.checkpoint_steps
        if due or model.num_timesteps >= config.steps:
            write_whole(folder / METRICS, "".join(json.dumps(row) + "\n" for row in rows))
            ppo_checkpoint.save(checkpoint, model, _identity(config))
            saved_at = model.num_timesteps
    return model


def actor(model: PPO) -> Layers:
    """The deterministic actor (its mean action) as plain arrays, ready for `blindsave.policies.mlp`."""
    networks = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [layer for layer in networks if isinstance(layer, torch.nn.Linear)]
    return tuple((layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()) for layer in linear)


def policy_of(model: PPO, config: PPOConfig) -> MLP:
    """The trained actor as a policy that runs without torch, with where it came from as its metadata."""
    facts = {
        "version": 1,
        "family": "ppo",
        "seed": config.seed,
        "steps": model.num_timesteps,
        "configuration": asdict(config),
        "blackouts": BLACKOUTS,
        "split": "train",
        "stable_baselines3": stable_baselines3.__version__,
        "provenance": provenance(),
    }
    return MLP(actor(model), name=f"ppo/{config.seed}", metadata=facts)


def write_curve(path: Path, folders: dict[int, Path]) -> Path:
    """Collect the learning curves of several seeds in one small Parquet file, saves by blackout length included."""
    rows = []
    for seed, folder in folders.items():
        for line in (folder / METRICS).read_text().splitlines():
            row = json.loads(line)
            counts = row.pop("saves")
            for length in BLACKOUTS:
                row[f"saves_{length}"], row[f"episodes_{length}"] = counts.get(str(length), (0, 0))
            rows.append({"training_seed": seed, **row})
    table = pa.Table.from_pylist(rows)
    return write_whole(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def _row(model: PPO, steps_per_s: float) -> dict[str, Any]:
    """One line of the learning curve; refuses to go on from numbers that are not finite."""
    env = model.get_env()
    assert isinstance(env, DefendVecEnv)
    values = model.logger.name_to_value
    losses = {name: float(values[f"train/{name}"]) for name in LOSSES}
    if not np.isfinite(losses["loss"]):
        raise BlindsaveError(f"the PPO loss is not finite after {model.num_timesteps} steps; the checkpoint is intact")
    losses = {name: value if np.isfinite(value) else None for name, value in losses.items()}
    row = {"steps": model.num_timesteps, **_episodes(env.finished), **losses, "steps_per_s": round(steps_per_s, 1)}
    env.finished.clear()
    return row


def _episodes(finished: list[Finished]) -> dict[str, Any]:
    """Episodes of one rollout: how many, their mean return and length, and saves by blackout length."""
    if not finished:
        return {"episodes": 0, "return": None, "length": None, "save_rate": None, "saves": {}}
    saves: dict[str, list[int]] = {}
    for end in finished:
        cell = saves.setdefault(str(end.blackout), [0, 0])
        cell[0] += end.outcome.saved
        cell[1] += 1
    return {
        "episodes": len(finished),
        "return": float(np.mean([end.score for end in finished])),
        "length": float(np.mean([end.steps for end in finished])),
        "save_rate": float(np.mean([end.outcome.saved for end in finished])),
        "saves": {length: saves[length] for length in sorted(saves, key=int)},
    }


def _kept_rows(path: Path, steps: int) -> list[dict[str, Any]]:
    """The learning curve up to the checkpoint; whatever was written later will be made again."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["steps"] <= steps]


def _identity(config: PPOConfig) -> dict[str, Any]:
    """What two runs must share for one to continue the other: all but how long and how often."""
    fields = json.loads(json.dumps(asdict(config)))
    return {name: value for name, value in fields.items() if name not in ("steps", "checkpoint_steps")}
