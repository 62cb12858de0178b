"""The frozen teacher without JAX: its deterministic step as a program of canonical operations.

    token  = MLP(symlog(o))
    h'     = block GRU(h, z, a)            512 units in 8 blocks
    z'     = argmax of posterior(h', token)   32 categoricals of 4 classes, one-hot
    a'     = tanh(actor(h', z'))

The carry is [h, z, previous action]; all zeros is a fresh episode. Parameters are a flat dict of float32 arrays, named
by their path in the agent (`dynamics.hidden.kernel`), kernels stored (in, out) as the learner has them.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.errors import BadFile
from blindsave.policies import files
from blindsave.policies.arithmetic import ARITHMETIC, Array
from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import Program
from blindsave.policies.trace import trace

NORM_EPSILON = 1e-4
FORMAT = "blindsave.teacher"
FIELDS: dict[str, type | tuple[type, ...]] = {"shape": dict, "arithmetic": str, "seed": int, "step": int, "notes": dict}
"""Metadata of a teacher file: sizes, arithmetic, training seed, environment step of the checkpoint, and the rest."""


@dataclass(frozen=True)
class AgentShape:
    """The sizes that decide the shapes of an agent's acting parameters."""

    observation: int = OBSERVATION_FLOATS
    action: int = ACTION_FLOATS
    deter: int = 512
    hidden: int = 64
    categoricals: int = 32
    classes: int = 4
    blocks: int = 8
    units: int = 64
    encoder_layers: int = 3
    actor_layers: int = 3

    @property
    def latent(self) -> int:
        """Width of the flattened one-hot latent."""
        return self.categoricals * self.classes

    @property
    def carry(self) -> int:
        """Floats kept between steps: recurrent state, latent, previous action."""
        return self.deter + self.latent + self.action

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every acting parameter, in file order."""
        block = self.deter // self.blocks
        return {
            **_mlp_shapes("encoder", self.observation, self.units, self.encoder_layers),
            **_layer_shapes("dynamics.deter_in", self.deter, self.hidden),
            **_layer_shapes("dynamics.latent_in", self.latent, self.hidden),
            **_layer_shapes("dynamics.action_in", self.action, self.hidden),
            "dynamics.hidden.kernel": (self.blocks, block + 3 * self.hidden, block),
            "dynamics.hidden.bias": (self.deter,),
            "dynamics.hidden.scale": (self.deter,),
            "dynamics.gates.kernel": (self.blocks, block, 3 * block),
            "dynamics.gates.bias": (3 * self.deter,),
            **_layer_shapes("dynamics.posterior.layer0", self.deter + self.units, self.hidden),
            "dynamics.posterior.out.kernel": (self.hidden, self.latent),
            "dynamics.posterior.out.bias": (self.latent,),
            **_mlp_shapes("actor", self.deter + self.latent, self.units, self.actor_layers),
            "actor.mean.kernel": (self.units, self.action),
            "actor.mean.bias": (self.action,),
        }

    def step(self, ops: Any, p: Mapping[str, Array], carry: Any, observation: Any) -> tuple[Any, Any]:
        """One deterministic step, in whatever arithmetic `ops` has."""
        d, e = self.deter, self.deter + self.latent
        h, z, action = carry[..., :d], carry[..., d:e], carry[..., e:]
        token = _mlp(ops, p, "encoder", ops.symlog(observation), self.encoder_layers)
        h = self._advance(ops, p, h, z, action)
        logits = _linear(ops, p, "dynamics.posterior.out", _layer(ops, p, "dynamics.posterior.layer0", (h, token)))
        z = ops.onehot(logits, self.classes)
        x = _mlp(ops, p, "actor", ops.concat(h, z), self.actor_layers)
        action = ops.tanh(_linear(ops, p, "actor.mean", x))
        return ops.concat(h, z, action), action

    def _advance(self, ops: Any, p: Mapping[str, Array], h: Any, z: Any, action: Any) -> Any:
        """The block GRU. Each block reads its own part of h and the three embedded inputs that all blocks share."""
        block = self.deter // self.blocks
        inputs = ops.concat(
            _layer(ops, p, "dynamics.deter_in", (h,)),
            _layer(ops, p, "dynamics.latent_in", (z,)),
            _layer(ops, p, "dynamics.action_in", (ops.bound(action),)),
        )
        kernel = p["dynamics.hidden.kernel"]
        own, shared = kernel[:, :block], kernel[:, block:]
        shared = np.moveaxis(shared, 0, 1).reshape(3 * self.hidden, self.deter)
        hidden = ops.linear(inputs, shared.T, p["dynamics.hidden.bias"])
        hidden = ops.linear(h, np.swapaxes(own, 1, 2), hidden)
        hidden = ops.silu(ops.rmsnorm(hidden, p["dynamics.hidden.scale"], NORM_EPSILON))
        # Within each block the gates lie as (reset, candidate, update).
        kernels = p["dynamics.gates.kernel"].reshape(self.blocks, block, 3, block)
        biases = p["dynamics.gates.bias"].reshape(self.blocks, 3, block)
        reset, candidate, update = (
            ops.linear(hidden, np.swapaxes(kernels[:, :, gate], 1, 2), biases[:, gate].reshape(-1)) for gate in range(3)
        )
        new = ops.tanh(ops.sigmoid(reset) * candidate)
        keep = ops.sigmoid(update - 1.0)
        return keep * new + (1.0 - keep) * h

    def program(self, params: Mapping[str, Array]) -> Program:
        """The step with these parameters as a program."""
        return trace(
            lambda ops, carry, observation: self.step(ops, params, carry, observation),
            carry=self.carry,
            observation=self.observation,
        )


class Teacher(ProgramPolicy):
    """The deterministic teacher: mode of the latent, mean of the action."""

    def __init__(self, params: Mapping[str, Array], name: str = "teacher", shape: AgentShape | None = None) -> None:
        self.shape = shape or AgentShape()
        super().__init__(name, self.shape.program(params))

    def with_previous_action(self, carry: Array, action: Array) -> Array:
        """Return the carry as if `action` had been the last command: how a shadow teacher follows someone else."""
        changed = carry.copy()
        changed[:, -self.shape.action :] = action
        return changed


def save_teacher(
    path: Path, params: Mapping[str, Array], *, shape: AgentShape, seed: int, step: int, notes: dict[str, Any]
) -> None:
    """Write the acting parameters as a policy file; whatever else `params` holds is left out."""
    tensors = {name: params[name] for name in shape.shapes}
    files.check_shapes(path, tensors, shape.shapes)
    about = {"shape": asdict(shape), "arithmetic": ARITHMETIC, "seed": seed, "step": step, "notes": notes}
    files.write_policy(path, tensors, {files.FORMAT_KEY: FORMAT, **about})


def teacher_from(path: Path, tensors: Mapping[str, Array], metadata: Mapping[str, Any]) -> Teacher:
    """Make the teacher of a policy file; called by the catalog."""
    files.check_fields(path, metadata, FIELDS)
    if metadata["arithmetic"] != ARITHMETIC:
        raise BadFile(f"{path} is for the arithmetic `{metadata['arithmetic']}`, this package has `{ARITHMETIC}`")
    try:
        shape = AgentShape(**metadata["shape"])
        shapes = shape.shapes
    except (TypeError, ZeroDivisionError) as error:
        raise BadFile(f"{path}: the metadata field `shape` cannot be {metadata['shape']}") from error
    files.check_shapes(path, tensors, shapes)
    return Teacher(tensors, shape=shape)


def _layer_shapes(name: str, n_in: int, n_out: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.kernel": (n_in, n_out), f"{name}.bias": (n_out,), f"{name}.scale": (n_out,)}


def _mlp_shapes(name: str, n_in: int, units: int, layers: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for i in range(layers):
        shapes |= _layer_shapes(f"{name}.layer{i}", units if i else n_in, units)
    return shapes


def _linear(ops: Any, p: Mapping[str, Array], name: str, x: Any) -> Any:
    return ops.linear(x, p[f"{name}.kernel"].T, p[f"{name}.bias"])


def _layer(ops: Any, p: Mapping[str, Array], name: str, parts: tuple[Any, ...]) -> Any:
    x = _linear(ops, p, name, ops.concat(*parts))
    return ops.silu(ops.rmsnorm(x, p[f"{name}.scale"], NORM_EPSILON))


def _mlp(ops: Any, p: Mapping[str, Array], name: str, x: Any, layers: int) -> Any:
    for i in range(layers):
        x = _layer(ops, p, f"{name}.layer{i}", (x,))
    return x
