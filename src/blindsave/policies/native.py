"""Run programs in C when the kernel was compiled, in the NumPy reference when it was not."""

import functools
import logging
import os
import struct
from types import ModuleType
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.policies.arithmetic import Array
from blindsave.policies.program import KINDS, Const, Op, Program, Slot, round_up

PATH_VARIABLE = "BLINDSAVE_KERNEL"
"""Environment variable: `avx512`, `avx2`, `simd128` or `scalar` forces a vector path, `reference` forces NumPy."""

OP_FORMAT = "<8if"


@functools.cache
def kernel_module() -> ModuleType | None:
    """The compiled kernel, or None (with one line of warning) where it is missing or not wanted."""
    if os.environ.get(PATH_VARIABLE) == "reference":
        return None
    try:
        from blindsave.policies import _kernel  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        logging.getLogger("blindsave").warning(
            "blindsave: the C kernel was not compiled; policies run in the NumPy reference, about 100 times slower"
        )
        return None
    return _kernel


def paths() -> list[str]:
    """The vector paths the kernel can run on this machine, widest first; empty without a kernel."""
    module = kernel_module()
    return module.paths() if module else []


def compile_program(program: Program, path: str | None = None) -> Any | None:
    """Hand a program to the C kernel; None where there is no kernel. `path` forces a vector path."""
    module = kernel_module()
    if module is None:
        return None
    offsets, constants = pack_constants(program)

    def place(arg: Slot | Const) -> int:
        return -1 - offsets[arg.number] if isinstance(arg, Const) else arg.offset

    ops = b"".join(_encode(op, program, place) for op in program.ops)
    sizes = (program.carry, program.observation, program.action, program.tape, program.observation_in.offset)
    chosen = path or os.environ.get(PATH_VARIABLE) or None
    return module.Kernel((*sizes, place(program.carry_out), place(program.action_out)), ops, constants, chosen)


def pack_constants(program: Program) -> tuple[list[int], bytes]:
    """All constants in one block, each on a multiple of 16 floats; weights as [block][input][outputs]."""
    offsets, parts, end = [], [], 0
    for array in program.constants:
        flat = _lanes(array)
        offsets.append(end)
        parts.append(flat)
        end += flat.size
    return offsets, b"".join(part.tobytes() for part in parts)


def _lanes(array: Array) -> Array:
    """Outputs on the last axis, padded with zeros to whole groups of lanes."""
    columns = array.swapaxes(-1, -2) if array.ndim > 1 else array
    pad = [(0, 0)] * (columns.ndim - 1) + [(0, round_up(columns.shape[-1]) - columns.shape[-1])]
    return np.ascontiguousarray(np.pad(columns, pad), dtype="<f4").reshape(-1)


def _encode(op: Op, program: Program, place: Any) -> bytes:
    a, b, c = (*(place(arg) for arg in op.args), *(3 - len(op.args)) * (place(op.args[0]),))
    inner, blocks = 0, 1
    if op.kind == "linear":
        blocks, _, inner = program.weight(op).shape
    elif op.kind == "onehot":
        inner = int(op.number)
    return struct.pack(OP_FORMAT, KINDS.index(op.kind), *op.out, a, b, c, inner, blocks, op.number)


class ProgramPolicy:
    """A policy that is a program: pure batched steps, a C capsule for native loops, sessions for one robot."""

    def __init__(self, name: str, program: Program, path: str | None = None) -> None:
        self.name = name
        self.program = program
        self.kernel = compile_program(program, path)

    @property
    def native(self) -> Any | None:
        """A PyCapsule around the C policy, or None without a compiled kernel."""
        return self.kernel.capsule() if self.kernel is not None else None

    def initial(self, n: int) -> Array:
        """Fresh carries for `n` episodes."""
        return np.zeros((n, self.program.carry), np.float32)

    def step(self, carry: Array, observation: Array) -> tuple[Array, Array]:
        """Take one step for `n` rows: (n, C) and (n, 19) to (n, C) and (n, 2); the arguments are not changed."""
        observation = np.ascontiguousarray(observation, np.float32)
        rows = len(observation)
        self._check(carry, observation)
        if self.kernel is None:
            return self.program.run(carry, observation)
        carry = np.array(carry, np.float32, order="C")
        action = np.empty((rows, self.program.action), np.float32)
        self.kernel.step(carry, observation, action, rows)
        return carry, action

    def _check(self, carry: Array, observation: Array) -> None:
        rows = len(observation)
        for what, array, width in (
            ("observations", observation, self.program.observation),
            ("carries", carry, self.program.carry),
        ):
            if array.shape != (rows, width):
                raise BadInput(f"{self.name} needs {what} of shape ({rows}, {width}), not {array.shape}")
        if self.kernel is None and not np.isfinite(observation).all():
            raise BadInput("the observation holds a value that is not finite")

    def unroll(self, observations: Array) -> tuple[Array, Array]:
        """One closed loop over observations (T, 19) from a fresh carry: carries and actions after every step."""
        carry, carries, actions = self.initial(1), [], []
        for observation in observations:
            carry, action = self.step(carry, observation[None])
            carries.append(carry[0])
            actions.append(action[0])
        return np.stack(carries), np.stack(actions)

    def session(self) -> "Session":
        """Start one episode that keeps its own carry: the cheapest way to run a policy step by step."""
        return Session(self)


class Session:
    """One running episode: `step(observation)` returns the action; `carry` may be read, set and zeroed."""

    def __init__(self, policy: ProgramPolicy) -> None:
        self.policy = policy
        self.carry = policy.initial(1)[0]
        self.action = np.zeros(policy.program.action, np.float32)
        if policy.kernel is not None:
            module = kernel_module()
            assert module is not None
            self.step = module.Session(policy.kernel, self.carry, self.action).step
        else:
            self.step = self._step

    def reset(self) -> None:
        """Forget everything: the next step is the first of an episode."""
        self.carry[:] = 0.0
        self.action[:] = 0.0

    def _step(self, observation: Array) -> Array:
        carry, action = self.policy.step(self.carry[None], observation[None])
        self.carry[:], self.action[:] = carry[0], action[0]
        return self.action
