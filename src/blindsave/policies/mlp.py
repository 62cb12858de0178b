"""A memoryless policy of dense tanh layers, such as the PPO actor: 19-256-256-2, mean action, clipped.

It runs as a program of canonical operations, so in C where the kernel is compiled, and never needs torch.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadFile, BadInput
from blindsave.policies import files
from blindsave.policies.arithmetic import ARITHMETIC, Array
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import Program
from blindsave.policies.trace import trace

FORMAT = "blindsave.mlp"
Layers = tuple[tuple[Array, Array], ...]
"""Weight (out, in) and bias of every layer, first to last."""


class MLP(ProgramPolicy):
    """Dense layers with tanh between them; the last one's output, clipped to [-1, 1], is the action."""

    def __init__(self, layers: Layers, *, name: str = "ppo", metadata: Mapping[str, Any] | None = None) -> None:
        self.layers = checked(layers)
        self.metadata = dict(metadata or {})
        super().__init__(name, program(self.layers))

    @property
    def parameters(self) -> int:
        """Number of weights and biases."""
        return sum(weight.size + bias.size for weight, bias in self.layers)

    def write(self, path: str | Path) -> Path:
        """Write the policy as safetensors, whole or not at all."""
        arrays = {}
        for i, (weight, bias) in enumerate(self.layers):
            arrays |= {_weight(i): weight, _bias(i): bias}
        facts = {"name": self.name, "layers": len(self.layers), "arithmetic": ARITHMETIC}
        files.write_policy(Path(path), arrays, {**self.metadata, **facts, files.FORMAT_KEY: FORMAT})
        return Path(path)


def mlp_from(path: Path, tensors: Mapping[str, Array], metadata: Mapping[str, Any]) -> MLP:
    """The policy in an opened policy file of this format."""
    files.check_fields(path, metadata, {"name": str, "layers": int, "arithmetic": str})
    if metadata["arithmetic"] != ARITHMETIC:
        raise BadFile(f"{path} was made for the arithmetic {metadata['arithmetic']}, not {ARITHMETIC}")
    count = metadata["layers"]
    wanted = {name for i in range(count) for name in (_weight(i), _bias(i))}
    for name in sorted(wanted ^ tensors.keys()):
        raise BadFile(f"{path}: `{name}` {'is missing' if name in wanted else 'does not belong to this policy'}")
    facts = {k: v for k, v in metadata.items() if k not in ("name", "layers", "arithmetic", files.FORMAT_KEY)}
    try:
        layers = tuple((tensors[_weight(i)], tensors[_bias(i)]) for i in range(count))
        return MLP(layers, name=metadata["name"], metadata=facts)
    except BadInput as error:
        raise BadFile(f"{path}: {error}") from error


def program(layers: Layers) -> Program:
    """The step of dense layers as a program; there is no carry."""

    def step(ops: Any, carry: Any, observation: Any) -> tuple[Any, Any]:
        x = observation
        for weight, bias in layers[:-1]:
            x = ops.tanh(ops.linear(x, weight, bias))
        mean = ops.linear(x, *layers[-1])
        return carry, ops.minimum(ops.maximum(mean, -1.0), 1.0)

    return trace(step, carry=0, observation=OBSERVATION_FLOATS)


def checked(layers: Layers) -> Layers:
    """Layers as float32, or a `BadInput` that names the layer that does not fit."""
    width, found = OBSERVATION_FLOATS, []
    if not layers:
        raise BadInput("a dense policy needs at least one layer")
    for i, (weight, bias) in enumerate(layers):
        weight, bias = np.ascontiguousarray(weight, np.float32), np.ascontiguousarray(bias, np.float32)
        if weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
            raise BadInput(f"layer {i} of shape {weight.shape} with bias {bias.shape} does not read {width} floats")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise BadInput(f"layer {i} holds a value that is not finite")
        width = weight.shape[0]
        found.append((weight, bias))
    if width != ACTION_FLOATS:
        raise BadInput(f"the last layer gives {width} floats, not {ACTION_FLOATS}")
    return tuple(found)


def _weight(layer: int) -> str:
    return f"layers.{layer}.weight"


def _bias(layer: int) -> str:
    return f"layers.{layer}.bias"
