"""Print a program as one self-contained C99 header and a self-test that replays a recording."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from blindsave import __version__
from blindsave.deploy.templates import comment, listed, pasted, template
from blindsave.errors import BadInput
from blindsave.policies.arithmetic import ARITHMETIC, Array
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.program import BINARY, Const, Op, Program, Slot
from blindsave.store import write_whole

SELF_TEST_STEPS = 50
SELF_TEST_SEED = 0
PER_LINE = 8
NEEDS_LIBM = ("sqrt", "rmsnorm")


@dataclass(frozen=True)
class CExport:
    """The files of an export and what the header says about itself."""

    header: Path
    self_test: Path
    prefix: str
    constant_bytes: int
    stack_bytes: int
    state_bytes: int
    number: str = "float"
    """The C type of observations and actions."""


def identifier(name: str) -> str:
    """A C identifier for a policy's name: `structured_k0/14303` becomes `structured_k0_14303`."""
    text = re.sub(r"\W+", "_", name).strip("_").lower()
    return text if re.match(r"[a-z]", text) else f"policy_{text}"


def export_c(policy: ProgramPolicy, folder: Path, provenance: str = "") -> CExport:
    """Write PREFIX.h and PREFIX_selftest.c into a folder."""
    program = getattr(policy, "program", None)
    if not isinstance(program, Program):
        raise BadInput(f"{policy.name} is not a program, so it cannot be exported")
    prefix = identifier(policy.name)
    header, self_test = Path(folder) / f"{prefix}.h", Path(folder) / f"{prefix}_selftest.c"
    write_whole(header, header_text(program, policy.name, provenance))
    write_whole(self_test, self_test_text(policy))
    constant_bytes = 4 * sum(array.size for array in program.constants)
    return CExport(header, self_test, prefix, constant_bytes, 4 * program.tape, 4 * program.carry)


def header_text(program: Program, name: str, provenance: str = "") -> str:
    """The header as text."""
    prefix = identifier(name)
    kinds = {op.kind for op in program.ops} - {"copy"}
    libm = bool(kinds & set(NEEDS_LIBM))
    return template("header.inc").format(
        name=name,
        version=__version__,
        arithmetic=ARITHMETIC,
        provenance=comment(provenance or "No provenance was given."),
        prefix=prefix,
        upper=prefix.upper(),
        guard=f"BLINDSAVE_{prefix.upper()}_H",
        observation=program.observation,
        action=program.action,
        carry=program.carry,
        carry_room=max(1, program.carry),
        memoryless="" if program.carry else ": nothing, but C wants an array to have an element",
        bytes=4 * sum(array.size for array in program.constants),
        stack=4 * program.tape,
        carry_bytes=4 * program.carry,
        libm=" but sqrtf" if libm else "",
        math="#include <math.h>\n" if libm else "",
        functions=pasted("canonical.inc", kinds, prefix),
        constants=_constants(program, prefix),
        tape=program.tape,
        observation_in=program.observation_in.offset,
        steps="\n".join(_statement(op, program, prefix) for op in program.ops),
        carry_out=_address(program.carry_out, prefix),
        action_out=_address(program.action_out, prefix),
    )


def self_test_text(policy: ProgramPolicy, steps: int = SELF_TEST_STEPS) -> str:
    """A main that replays `steps` recorded closed-loop steps of the policy."""
    observations, carries, actions = record(policy, steps)
    if not policy.program.carry:
        carries = np.zeros((steps, 1), np.float32)
    return template("selftest.inc").format(
        prefix=identifier(policy.name),
        steps=steps,
        observation=policy.program.observation,
        action=policy.program.action,
        carry_room=carries.shape[1],
        observations=_bit_rows(observations),
        actions=_bit_rows(actions),
        carries=_bit_rows(carries),
    )


def record(policy: ProgramPolicy, steps: int, seed: int = SELF_TEST_SEED) -> tuple[Array, Array, Array]:
    """Observations, carries after each step, and actions of one closed loop over random observations."""
    rng = np.random.default_rng(seed)
    observations = rng.uniform(-1.0, 1.0, (steps, policy.program.observation)).astype(np.float32)
    return observations, *policy.unroll(observations)


def _constants(program: Program, prefix: str) -> str:
    """Constants in C order; weights as [block][input][output]."""
    texts = []
    for index, array in enumerate(program.constants):
        flat = (array.swapaxes(-1, -2) if array.ndim > 1 else array).reshape(-1)
        values = [float(value).hex() for value in flat]
        values = [re.sub(r"\.?0*p", "p", value) + "f" for value in values]
        texts.append(f"static const float {prefix}_c{index}[{flat.size}] = {{\n{listed(values, PER_LINE)}\n}};\n")
    return "".join(texts)


def _address(arg: Slot | Const, prefix: str) -> str:
    return f"{prefix}_c{arg.number}" if isinstance(arg, Const) else f"t + {arg.offset}"


def _statement(op: Op, program: Program, prefix: str) -> str:
    """One operation as one C statement."""
    out, args, size = f"t + {op.out.offset}", [_address(arg, prefix) for arg in op.args], op.out.size
    if op.kind == "copy":
        return f"    memcpy({out}, {args[0]}, {size} * sizeof(float));"
    if op.kind == "linear":
        blocks, outputs, inputs = program.weight(op).shape
        return f"    {prefix}_linear({out}, {', '.join(args)}, {blocks}, {inputs}, {outputs});"
    if op.kind == "rmsnorm":
        eps = float(np.float32(op.number)).hex()
        return f"    {prefix}_rmsnorm({out}, {', '.join(args)}, {eps}f, {size});"
    if op.kind == "onehot":
        return f"    {prefix}_onehot({out}, {args[0]}, {int(op.number)}, {size});"
    values = [f"({arg})[i]" for arg in args[: 2 if op.kind in BINARY else 1]]
    return f"    for (int i = 0; i < {size}; i++) ({out})[i] = {prefix}_{op.kind}({', '.join(values)});"


def _bit_rows(array: Array) -> str:
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    return ",\n".join("    {" + ", ".join(f"0x{int(value):08X}" for value in row) + "}" for row in bits)
