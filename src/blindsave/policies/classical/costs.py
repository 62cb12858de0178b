"""What a rival costs, counted like a student: numbers in its settings, floats it carries, products of one step."""

from dataclasses import asdict
from typing import Any

from blindsave.policies.classical.rivals import RIVALS, document, rival
from blindsave.policies.students.accounting import FLOAT_BYTES, Cost, macs


def rival_costs(names: Any = RIVALS) -> dict[str, dict[str, int]]:
    """Costs of those of the names that are rivals, in the order of the ladder.

    Parameters are the numbers of the settings, the tracker's own as core parameters; all that is carried is recurrent.
    """
    return {name: asdict(_cost(name)) for name in RIVALS if name in set(names)}


def _cost(name: str) -> Cost:
    program, values = rival(name).program, document()["settings"][name]
    carried = FLOAT_BYTES * program.carry
    return Cost(
        parameters=_numbers(values),
        core_parameters=_numbers(values) - _numbers(values["planner"]),
        carry_bytes=carried,
        recurrent_bytes=carried,
        macs=macs(program),
    )


def _numbers(values: Any) -> int:
    """How many numbers a JSON value holds."""
    if isinstance(values, dict):
        return sum(map(_numbers, values.values()))
    return sum(map(_numbers, values)) if isinstance(values, list) else 1
