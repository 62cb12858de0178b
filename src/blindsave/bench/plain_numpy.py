"""A program in plain, tuned NumPy (BLAS matrix products, preallocated outputs): the yardstick of the latency bench.

This is what a careful author would write by hand for batch one. It is not canonical: BLAS chooses its own order of
summation. Straight-line Python is generated so that no interpreter loop is charged to NumPy.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from blindsave.errors import BadInput
from blindsave.policies.arithmetic import Array
from blindsave.policies.program import Const, Op, Program, Slot

BINARY_UFUNCS = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide"}
BINARY_UFUNCS |= {"maximum": "maximum", "minimum": "minimum"}
UNARY_UFUNCS = ("tanh", "exp", "log", "sqrt")
UFUNCS = (*BINARY_UFUNCS.values(), *UNARY_UFUNCS, "negative")


def plain_numpy(program: Program) -> Callable[[Array], Array]:
    """A function of the observation (19,) that keeps its own carry and returns the action (2,)."""
    tape = np.zeros(program.tape, np.float32)
    names: dict[str, Any] = {name: getattr(np, name) for name in UFUNCS}
    names |= {"dot": np.dot, "one": np.float32(1), "zeros": np.zeros(program.observation, np.float32)}

    def name(arg: Slot | Const) -> str:
        if isinstance(arg, Const):
            label, value = f"c{arg.number}", program.constants[arg.number]
        else:
            label, value = f"t{arg.offset}_{arg.size}", tape[arg.offset : arg.offset + arg.size]
        names.setdefault(label, value)
        return label

    lines = ["if dot(observation, zeros) != 0: raise ValueError('not finite')"]  # the cheapest check there is
    lines.append(f"{name(program.observation_in)}[:] = observation")
    for op in program.ops:
        lines += _lines(op, name, names)
    if program.carry:
        lines.append(f"{name(program.carry_in)}[:] = {name(program.carry_out)}")
    lines.append(f"return {name(program.action_out)}")
    source = "def step(observation):\n" + "".join(f"    {line}\n" for line in lines)
    exec(compile(source, "<plain numpy>", "exec"), names)
    return names["step"]


def _lines(op: Op, name: Callable[[Slot | Const], str], names: dict[str, Any]) -> list[str]:
    out, args = name(op.out), [name(arg) for arg in op.args]
    if op.kind == "copy":
        return [f"{out}[:] = {args[0]}"]
    if op.kind == "linear" and names[args[1]].ndim == 2:
        return [f"dot({args[1]}, {args[0]}, {out})", f"add({out}, {args[2]}, {out})"]
    if op.kind in BINARY_UFUNCS:
        named = "out=" if op.kind in ("maximum", "minimum") else ""  # NumPy insists for these; positions are faster
        return [f"{BINARY_UFUNCS[op.kind]}({args[0]}, {args[1]}, {named}{out})"]
    if op.kind in UNARY_UFUNCS:
        return [f"{op.kind}({args[0]}, {out})"]
    if op.kind == "onehot" and op.number == op.out.size:
        return [f"{out}[:] = 0", f"{out}[{args[0]}.argmax()] = 1"]
    if op.kind in ("silu", "sigmoid"):
        numerator = args[0] if op.kind == "silu" else "one"
        return [
            f"negative({args[0]}, {out})",
            f"exp({out}, {out})",
            f"add({out}, one, {out})",
            f"divide({numerator}, {out}, {out})",
        ]
    raise BadInput(f"the operation `{op.kind}` is not part of the NumPy yardstick")
