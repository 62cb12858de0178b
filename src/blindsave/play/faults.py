"""What the tracker can do wrong in the live arena: the stops of one slider, from harmless to hard.

Any condition of the task can be a stop: add a line, or name it on the command line (`blindsave play --condition`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from blindsave.task.conditions import Condition, condition


class Fault(NamedTuple):
    """One stop of the slider: what people read, and what it does to an episode."""

    label: str
    condition: Condition


STOPS = (
    ("does nothing else wrong", "clean"),
    ("jitters by 1 mm", "noise_1mm"),
    ("jitters by 5 mm", "noise_5mm"),
    ("drifts by 5 mm", "noise_5mm_correlation_0.9"),
    ("is 10 mm off", "shift_10mm"),
    ("is 20 ms late", "latency_1"),
    ("loses every tenth frame", "dropped_10percent"),
    ("loses the puck again, for 160 ms", "again_8"),
    ("jitters by 10 mm", "noise_10mm"),
    ("sees 3 % of pucks elsewhere", "outliers_3percent"),
    ("sees one puck elsewhere, just before", "ghost_4"),
    ("is 60 ms late", "latency_3"),
    ("repeats what it saw last", "stale"),
    ("loses a fifth of frames, in runs", "bursts_20percent"),
    ("loses every third frame", "dropped_33percent"),
    ("jitters by 20 mm", "noise_20mm"),
    ("passes old pucks off as new", "frozen"),
    ("sees 10 % of pucks elsewhere", "outliers_10percent"),
    ("is 40 mm off", "shift_40mm"),
)


def faults(named: Sequence[str] = ()) -> tuple[Fault, ...]:
    """The stops of the slider, those of the command line last, by their own names."""
    told = [*STOPS, *((name, name) for name in dict.fromkeys(named))]
    return tuple(Fault(label, condition(name)) for label, name in told)
