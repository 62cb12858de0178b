"""What the tracker can do wrong in the live arena: the stops of one slider, from harmless to hard.

Any `Disturbance` of the task can be a stop: add a line.
"""

from typing import NamedTuple

from blindsave.task.episode import UNDISTURBED, Disturbance


class Fault(NamedTuple):
    """One stop of the slider: what people read, and what it does to an episode."""

    label: str
    condition: Disturbance


FAULTS = (
    Fault("nothing", UNDISTURBED),
    Fault("jitters by 1 mm", Disturbance(noise_mm=1.0)),
    Fault("jitters by 2 mm", Disturbance(noise_mm=2.0)),
    Fault("jitters by 5 mm", Disturbance(noise_mm=5.0)),
    Fault("drifts by 5 mm", Disturbance(noise_mm=5.0, correlation=0.9)),
    Fault("is 10 mm off to one side", Disturbance(bias_mm=(0.0, 10.0))),
    Fault("jitters by 10 mm", Disturbance(noise_mm=10.0)),
    Fault("drifts by 20 mm", Disturbance(noise_mm=20.0, correlation=0.9)),
    Fault("jitters by 20 mm", Disturbance(noise_mm=20.0)),
    Fault("is 40 mm off to one side", Disturbance(bias_mm=(0.0, 40.0))),
    Fault("jitters by 50 mm", Disturbance(noise_mm=50.0)),
)
