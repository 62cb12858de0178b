"""The window of the last readings."""

import numpy as np

from blindsave.policies.students import family


def test_the_stack_holds_ten_readings_oldest_first():
    from blindsave.policies import arithmetic

    core, memory = family("finite_stack_10").core, np.zeros((1, 30), np.float32)
    for step in range(1, 13):
        seen = np.full((1, 19), 0.5, np.float32)
        seen[0, 16:] = [step, -step, 1.0]
        memory, x = core.observe(arithmetic, memory, seen)
    assert memory[0].tolist() == [v for step in range(3, 13) for v in (step, -step, 1.0)]
    assert x[0].tolist() == [0.5] * 16 + memory[0].tolist()
