"""Print a student in whole numbers as one self-contained C99 header and a self-test that replays a recording."""

from pathlib import Path
from typing import Any

import numpy as np

from blindsave import __version__
from blindsave.deploy.c_header import SELF_TEST_SEED, SELF_TEST_STEPS, CExport, identifier
from blindsave.deploy.integers import (
    ACTION_POINT,
    OBSERVATION_POINT,
    SIGMOID_POINT,
    IntegerPolicy,
    IntegerProgram,
    Step,
    quantised,
    sigmoid_table,
)
from blindsave.deploy.templates import comment, listed, pasted, template
from blindsave.policies.program import Slot
from blindsave.store import write_whole

C_TYPES = {"int8": "int8_t", "int16": "int16_t", "bias": "int32_t", "factor": "uint16_t"}
BYTES = {"int8_t": 1, "int16_t": 2, "int32_t": 4, "uint16_t": 2}
PER_LINE = 16


def export_integers(policy: IntegerPolicy, folder: Path, provenance: str = "") -> CExport:
    """Write PREFIX.h and PREFIX_selftest.c into a folder."""
    prefix, program = identifier(policy.name), policy.program
    header, self_test = Path(folder) / f"{prefix}.h", Path(folder) / f"{prefix}_selftest.c"
    printer = _Printer(program, prefix)
    write_whole(header, printer.header(policy.name, provenance))
    write_whole(self_test, self_test_text(policy))
    widest = max(step.args[0].size for step in program.steps if step.kind == "linear")
    stack = 4 * program.source.tape + 2 * widest
    return CExport(header, self_test, prefix, printer.constant_bytes, stack, 4 * program.source.carry, "int32_t")


class _Printer:
    """Collects the constants of a program while its statements are printed."""

    def __init__(self, program: IntegerProgram, prefix: str) -> None:
        self.program, self.prefix = program, prefix
        self.constants: list[str] = []
        self.constant_bytes = 2 * len(sigmoid_table())

    def header(self, name: str, provenance: str) -> str:
        program, source, prefix = self.program, self.program.source, self.prefix
        steps = "\n".join(map(self._statement, program.steps))
        kinds = {"move", *({"sub": "add"}.get(step.kind, step.kind) for step in program.steps)} - {"copy"}
        widest = max(step.args[0].size for step in program.steps if step.kind == "linear")
        functions = pasted("integer_operations.inc", kinds, prefix)
        for mark, text in (
            ("@TABLE@", listed([str(value) for value in sigmoid_table()], PER_LINE)),
            ("@WEIGHT@", C_TYPES[program.integers]),
            ("@WIDEST@", str(widest)),
        ):
            functions = functions.replace(mark, text)
        return template("integer_header.inc").format(
            name=name,
            version=__version__,
            integers=program.integers,
            source=name.removesuffix(f"_{program.integers}"),
            provenance=comment(provenance or "No provenance was given."),
            prefix=prefix,
            upper=prefix.upper(),
            guard=f"BLINDSAVE_{prefix.upper()}_H",
            observation=source.observation,
            action=source.action,
            observation_point=OBSERVATION_POINT,
            action_point=ACTION_POINT,
            observation_scale=1 << OBSERVATION_POINT,
            action_scale=1 << ACTION_POINT,
            carry=source.carry,
            carry_room=max(1, source.carry),
            memoryless="" if source.carry else ": nothing, but C wants an array to have an element",
            bytes=self.constant_bytes,
            stack=4 * source.tape,
            carry_bytes=4 * source.carry,
            functions=functions,
            constants="".join(self.constants),
            tape=source.tape,
            observation_in=source.observation_in.offset,
            steps=steps,
            moves=self._moves(),
        )

    def _constant(self, kind: str, values: Any) -> str:
        name, c_type = f"{self.prefix}_c{len(self.constants)}", C_TYPES[kind]
        flat = [str(int(value)) for value in np.ravel(values)]
        self.constants.append(f"static const {c_type} {name}[{len(flat)}] = {{\n{listed(flat, PER_LINE)}\n}};\n")
        self.constant_bytes += BYTES[c_type] * len(flat)
        return name

    def _place(self, arg: Any) -> str:
        return f"t + {arg.offset}" if isinstance(arg, Slot) else self._constant("bias", arg)

    def _statement(self, step: Step) -> str:
        out, size, points = f"t + {step.out.offset}", step.out.size, step.points
        if step.kind == "linear":
            return self._linear(step)
        args = ", ".join(self._place(arg) for arg in step.args)
        if step.kind == "copy":
            return f"    {self.prefix}_move({out}, {args}, {size}, {points[0] - step.point});"
        if step.kind == "mul":
            return f"    {self.prefix}_mul({out}, {args}, {size}, {sum(points) - step.point});"
        if step.kind in ("add", "sub"):
            fine, sign = max(points), "-" if step.kind == "sub" else ""
            factors = f"{1 << (fine - points[0])}, {sign}{1 << (fine - points[1])}"
            return f"    {self.prefix}_add({out}, {args}, {size}, {factors}, {fine - step.point});"
        shift = SIGMOID_POINT - step.point + (points[0] if step.kind == "silu" else 0)
        return f"    {self.prefix}_{step.kind}({out}, {args}, {size}, {points[0]}, {shift});"

    def _linear(self, step: Step) -> str:
        rows, x = step.rows, step.args[0]
        assert rows is not None and isinstance(x, Slot)
        tables = [self._constant(self.program.integers, rows.weight)]
        tables.append(self._constant("bias", rows.bias) if rows.bias.any() else "NULL")
        tables += [self._constant("factor", rows.factor), str(rows.shift)]
        start = (f"t + {step.args[1].offset}", step.points[1] - step.point) if len(step.args) > 1 else ("NULL", 0)  # pyright: ignore
        values = ", ".join(map(str, (f"t + {step.out.offset}", f"t + {x.offset}", *tables, *start, x.size)))
        return f"    {self.prefix}_linear({values}, {step.out.size});"

    def _moves(self) -> str:
        lines, at = [], 0
        for slot, shift in self.program.carry_moves:
            lines.append(f"    {self.prefix}_move(state->carry + {at}, t + {slot.offset}, {slot.size}, {shift});")
            at += slot.size
        slot, shift = self.program.action_move
        return "\n".join([*lines, f"    {self.prefix}_move(action, t + {slot.offset}, {slot.size}, {shift});"])


def self_test_text(policy: IntegerPolicy, steps: int = SELF_TEST_STEPS) -> str:
    """A main that replays `steps` recorded closed-loop steps of the policy."""
    source = policy.program.source
    rng = np.random.default_rng(SELF_TEST_SEED)
    seen = quantised(rng.uniform(-1.0, 1.0, (steps, source.observation)).astype(np.float32))
    carry, carries, actions = policy.initial(1), [], []
    for row in seen:
        carry, action = policy.program.run(carry, row[None])
        carries.append(carry[0] if source.carry else np.zeros(1, np.int32))
        actions.append(action[0])
    return template("integer_selftest.inc").format(
        prefix=identifier(policy.name),
        steps=steps,
        observation=source.observation,
        action=source.action,
        carry_room=max(1, source.carry),
        observations=_rows(seen),
        actions=_rows(actions),
        carries=_rows(carries),
    )


def _rows(array: Any) -> str:
    return ",\n".join("    {" + ", ".join(str(int(value)) for value in row) + "}" for row in array)
