"""A family of students: encoder, memory core, head.

e = SiLU(W SiLU(W x))            19 -> 64 -> 32, unless the name says otherwise (`widths`)
memory' = core(memory, e, previous action)
action = tanh(W SiLU(W [memory', e]))     -> 64 -> 2; memoryless families read e alone
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from blindsave.policies.base import ACTION_FLOATS, OBSERVATION_FLOATS
from blindsave.policies.program import Program
from blindsave.policies.students.core import MemoryCore, Parameters, glorot, zeros
from blindsave.policies.students.widths import ENCODER_FLOATS, HEAD_FLOATS
from blindsave.policies.trace import trace

CORE_PREFIX = "core."


@dataclass(frozen=True)
class Family:
    """An architecture without parameters; parameters are a flat dict of named float32 arrays."""

    name: str
    core: MemoryCore
    encoder: int = ENCODER_FLOATS
    """Floats of the encoder's hidden layer."""
    head: int = HEAD_FLOATS
    """Floats of the head's hidden layer."""

    @property
    def carry(self) -> int:
        """Floats kept between steps: the memory and, for recurrent cores, the previous requested action."""
        return self.core.memory + (ACTION_FLOATS if self.core.recurrent else 0)

    @property
    def features(self) -> int:
        """Floats the head reads."""
        return self.core.code + (self.core.shown if self.core.recurrent else 0)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of every parameter, in file order."""
        return {name: array.shape for name, array in self.init(0).items()}

    def init(self, seed: int) -> Parameters:
        """Fresh parameters for a training seed; the order of the draws is part of the study."""
        rng = np.random.default_rng(seed)
        return {
            **_layer("encoder.0", rng, self.encoder, self.core.observed),
            **_layer("encoder.1", rng, self.core.code, self.encoder),
            **{CORE_PREFIX + name: array for name, array in self.core.init(rng, seed).items()},
            **_layer("head.0", rng, self.head, self.features),
            **_layer("head.1", rng, ACTION_FLOATS, self.head),
        }

    def encode(self, ops: Any, params: Mapping[str, Any], x: Any) -> Any:
        """The code of an encoder input."""
        hidden = ops.silu(ops.linear(x, params["encoder.0.weight"], params["encoder.0.bias"]))
        return ops.silu(ops.linear(hidden, params["encoder.1.weight"], params["encoder.1.bias"]))

    def act(self, ops: Any, params: Mapping[str, Any], memory: Any, code: Any) -> Any:
        """The action for an updated memory and the present code."""
        core = self.core
        shown = memory if not core.recurrent or core.shown == core.memory else memory[..., : core.shown]
        features = ops.concat(shown, code) if core.recurrent else code
        hidden = ops.silu(ops.linear(features, params["head.0.weight"], params["head.0.bias"]))
        return ops.tanh(ops.linear(hidden, params["head.1.weight"], params["head.1.bias"]))

    def core_parameters(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The core's own parameters by their short names."""
        return {n.removeprefix(CORE_PREFIX): a for n, a in params.items() if n.startswith(CORE_PREFIX)}

    def step(self, ops: Any, params: Mapping[str, Any], carry: Any, observation: Any) -> tuple[Any, Any]:
        """One closed-loop step: (carry, observation) to (carry, action), in whatever arithmetic `ops` has."""
        core, p = self.core, self.core_parameters(params)
        memory, previous = carry[..., : core.memory], carry[..., core.memory :]
        memory, x = core.observe(ops, memory, observation)
        code = self.encode(ops, params, x)
        if core.recurrent:
            memory = core.advance(ops, p, memory, core.drive(ops, p, code, previous))
        action = self.act(ops, params, memory, code)
        return (ops.concat(memory, action) if core.recurrent else memory), action

    def program(self, params: Mapping[str, Any]) -> Program:
        """The step with these parameters as a program of canonical operations."""

        def step(ops: Any, carry: Any, observation: Any) -> tuple[Any, Any]:
            return self.step(ops, params, carry, observation)

        return trace(step, carry=self.carry, observation=OBSERVATION_FLOATS)


def _layer(name: str, rng: np.random.Generator, out: int, inner: int) -> Parameters:
    return {f"{name}.weight": glorot(rng, out, inner), f"{name}.bias": zeros(out)}
