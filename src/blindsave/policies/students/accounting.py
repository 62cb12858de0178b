"""What a family costs: counted from its parameters and its program, by the formulas of docs/arithmetic.md."""

from dataclasses import asdict, dataclass

import numpy as np

from blindsave.policies.program import Const, Program
from blindsave.policies.students.family import CORE_PREFIX, Family

FLOAT_BYTES = 4


@dataclass(frozen=True)
class Cost:
    """Sizes of one family."""

    parameters: int
    core_parameters: int
    carry_bytes: int
    recurrent_bytes: int
    macs: int


def macs(program: Program) -> int:
    """Multiply-accumulates of one step: weights of linear maps, and products with learned vectors.

    Biases, activations, products of two computed vectors (gates) and copies are not counted.
    """
    total = 0
    for op in program.ops:
        constants = [arg.number for arg in op.args if isinstance(arg, Const) and program.learned[arg.number]]
        if op.kind == "linear":
            total += program.constants[constants[0]].size
        elif op.kind == "mul" and constants:
            total += op.out.size
    return total


def cost(family: Family) -> Cost:
    """Count a family."""
    params = family.init(0)
    sizes = {name: int(np.size(array)) for name, array in params.items()}
    return Cost(
        parameters=sum(sizes.values()),
        core_parameters=sum(size for name, size in sizes.items() if name.startswith(CORE_PREFIX)),
        carry_bytes=FLOAT_BYTES * family.carry,
        recurrent_bytes=FLOAT_BYTES * family.core.memory if family.core.recurrent else 0,
        macs=macs(family.program(params)),
    )


def cost_table(families: dict[str, Family]) -> dict[str, dict[str, int]]:
    """Costs by family name."""
    return {name: asdict(cost(family)) for name, family in families.items()}
