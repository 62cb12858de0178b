"""Every number of the algorithm in one place; the defaults are the preset of the study ("size1m")."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

from blindsave.errors import BadInput


@dataclass(frozen=True)
class Sizes:
    """Widths of the networks. `observation` and `action` come from the environment."""

    observation: int
    action: int
    deter: int = 512
    hidden: int = 64
    categoricals: int = 32
    classes: int = 4
    blocks: int = 8
    units: int = 64
    encoder_layers: int = 3
    decoder_layers: int = 3
    reward_layers: int = 1
    continue_layers: int = 1
    actor_layers: int = 3
    critic_layers: int = 3
    prior_layers: int = 2
    bins: int = 255

    def __post_init__(self) -> None:
        if self.deter % self.blocks:
            raise BadInput(f"the recurrent width {self.deter} is not divisible into {self.blocks} blocks")
        if self.bins % 2 == 0:
            raise BadInput(f"the number of two-hot bins must be odd, got {self.bins}")

    @property
    def latent(self) -> int:
        """Width of the flattened one-hot latent."""
        return self.categoricals * self.classes

    @property
    def feature(self) -> int:
        """Width of the feature vector [h, z] that the heads read."""
        return self.deter + self.latent

    @property
    def block(self) -> int:
        """Recurrent units per block."""
        return self.deter // self.blocks


@dataclass(frozen=True)
class Learning:
    """The objective: batch shape, losses, returns and the optimiser."""

    batch: int = 16
    length: int = 64
    imagination: int = 15
    horizon: float = 333.0
    lam: float = 0.95
    entropy: float = 3e-4
    free_nats: float = 1.0
    unimix: float = 0.01
    return_rate: float = 0.01
    return_limit: float = 1.0
    slow_rate: float = 0.02
    slow_regression: float = 1.0
    weight_dynamics: float = 1.0
    weight_representation: float = 0.1
    weight_observation: float = 1.0
    weight_reward: float = 1.0
    weight_continue: float = 1.0
    weight_actor: float = 1.0
    weight_critic: float = 1.0
    weight_replay_critic: float = 0.3
    learning_rate: float = 4e-5
    warmup: int = 1000
    agc: float = 0.3
    agc_floor: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-20

    @property
    def window(self) -> int:
        """Transitions in one replay window: one step of context and `length` trained steps."""
        return self.length + 1


@dataclass(frozen=True)
class Speed:
    """How the same arithmetic is laid out; nothing here changes the algorithm.

    `layout` decides how block matrices are multiplied: `dense` as one big masked matrix (fewest kernels, best
    on a GPU), `grouped` as a batched product with the block axis in front (fewest operations, best on a CPU).
    `deferred` collects the weight gradients of the recurrent scan after it, in a few large products.
    """

    dtype: Literal["bfloat16", "float32"] = "float32"
    layout: Literal["dense", "grouped"] = "grouped"
    unroll: int = 1
    imagination_unroll: int = 1
    deferred: bool = True

    @staticmethod
    def best(platform: str) -> Speed:
        """Return the measured best layout for `cpu` or `gpu`."""
        if platform == "cpu":
            return Speed()
        return Speed(dtype="bfloat16", layout="dense", unroll=4, imagination_unroll=3)


@dataclass(frozen=True)
class Replay:
    """What the replay holds and how windows are drawn.

    `uniform` (what the published code does): uniform over stored windows after the online queue. `mixture`: the
    fractions the published configuration names, with the recency selector repaired.
    """

    capacity: int = 2_000_000
    sampler: Literal["uniform", "mixture"] = "uniform"
    fraction_uniform: float = 0.2
    fraction_priority: float = 0.6
    fraction_recency: float = 0.2


@dataclass(frozen=True)
class Training:
    """The run: how many environment steps, how often to learn, what to keep.

    `timeouts` says what an episode's time limit means: `truncate` (the original) ends the episode but not the future
    beyond it, so values bootstrap past it; `terminate` makes it an end like any other. `population` teachers with the
    seeds seed, seed + 1, ... train side by side in one program; every other number is per teacher. `conditions` are
    what happens in the episodes besides blackouts, in equal shares.
    """

    steps: int = 1_000_000
    envs: int = 32
    train_ratio: int = 80
    seed: int = 7303
    checkpoint_every: int = 20_000
    log_every: int = 2_000
    latents: Literal["on_stop", "always", "never"] = "on_stop"
    timeouts: Literal["truncate", "terminate"] = "truncate"
    population: int = 1
    conditions: tuple[str, ...] = ("clean",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", tuple(self.conditions))  # JSON knows lists only
        if self.timeouts not in ("truncate", "terminate"):
            raise BadInput(f"timeouts must be truncate or terminate, got {self.timeouts!r}")
        if self.population < 1:
            raise BadInput(f"a population needs at least one teacher, got {self.population}")


@dataclass(frozen=True)
class Config:
    """Everything a run is made of. Two runs with equal configurations on one CPU give equal bits."""

    sizes: Sizes
    learning: Learning = field(default_factory=Learning)
    replay: Replay = field(default_factory=Replay)
    training: Training = field(default_factory=Training)
    speed: Speed = field(default_factory=Speed)

    def member(self, index: int) -> Config:
        """Return the configuration under which one teacher of the population would train alone."""
        alone = dataclasses.replace(self.training, seed=self.training.seed + index, population=1)
        return dataclasses.replace(self, training=alone)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as nested dictionaries of plain values."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Config:
        """Rebuild a configuration from `to_json`; one that does not say how time-outs count is from before they did."""
        return Config(
            Sizes(**data["sizes"]),
            Learning(**data["learning"]),
            Replay(**data["replay"]),
            Training(**{"timeouts": "terminate"} | data["training"]),
            Speed(**data["speed"]),
        )
