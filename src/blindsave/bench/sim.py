"""How fast the arena is, against the two things it stands between: MuJoCo's raw physics and plain Python."""

import time
from collections.abc import Callable

import numpy as np

from blindsave.arena import native
from blindsave.arena.simulator import Arena
from blindsave.errors import BadInput

STEPS = 40  # control steps per round: about the length of an episode
ORIGINAL_STEPS_PER_S = 125  # measured elsewhere, 2.8 GHz core: the stack our physics reproduces


class Load:
    """One batch of tables under a busy, repeatable load: shots come in, the mallet chases random targets."""

    def __init__(self, n: int, threads: int) -> None:
        rng = np.random.default_rng(0)
        self.arena = Arena(n, threads=threads, backend="native")
        self.launches = np.zeros((n, 6))
        self.launches[:, 0], self.launches[:, 1] = rng.uniform(0.45, 0.65, n), rng.uniform(-0.3, 0.3, n)
        self.launches[:, 3], self.launches[:, 4] = rng.uniform(-3, -1.6, n), rng.uniform(-0.3, 0.3, n)
        # A new target every ten steps, as a deciding policy would set it.
        targets = rng.uniform(-1, 1, (STEPS // 10, n, 2)).astype(np.float32)
        self.actions = np.repeat(targets, 10, axis=0)
        self.torques = np.zeros((STEPS, n, 20, 9))
        self.arena.reset(self.launches)
        for step in range(STEPS):
            self.arena._core.step(self.actions[step], None, self.torques[step])

    def controlled(self) -> None:
        """Run the whole loop: controller, physics, observation."""
        for action in self.actions:
            self.arena.step(action)

    def raw(self) -> None:
        """Run the physics alone, from the same states under the same torques."""
        for torques in self.torques:
            self.arena._core.physics(torques, None)

    def rate(self, work: Callable[[], None]) -> float:
        """Control steps per second of one round."""
        self.arena.reset(self.launches)
        start = time.perf_counter()
        work()
        return self.arena.n * STEPS / (time.perf_counter() - start)


def reference_rate(steps: int) -> float:
    """Control steps per second of the plain NumPy implementation of the same loop."""
    arena = Arena(1, backend="reference")
    rng = np.random.default_rng(0)
    arena.reset([[0.55, 0.1, 0, -2.0, 0.1, 0]])
    start = time.perf_counter()
    for action in rng.uniform(-1, 1, (steps, 1, 2)):
        arena.step(action)
    return steps / (time.perf_counter() - start)


def bench(*, n: int, rounds: int, threads: int | None) -> dict[str, object]:
    """Measure all variants round-robin, so that a slow phase of the machine hits all of them; report medians."""
    if n < 1 or rounds < 1:
        raise BadInput(f"a benchmark needs at least one table and one round, got {n} and {rounds}")
    most = native.threads_or_default(threads)
    one, many = Load(n, 1), Load(n, most)
    rates: dict[str, list[float]] = {"one": [], "raw": [], "many": [], "reference": []}
    for _ in range(rounds):
        rates["one"].append(one.rate(one.controlled))
        rates["raw"].append(one.rate(one.raw))
        rates["many"].append(many.rate(many.controlled))
        rates["reference"].append(reference_rate(STEPS))
    middle = {name: float(np.median(values)) for name, values in rates.items()}
    paired = float(np.median(np.array(rates["one"]) / np.array(rates["raw"])))
    return {
        "control_steps_per_s": middle["one"],
        "raw_physics_control_steps_per_s": middle["raw"],
        "fraction_of_raw": paired,
        "reference_control_steps_per_s": middle["reference"],
        "times_reference": middle["one"] / middle["reference"],
        "threads": most,
        "control_steps_per_s_all_threads": middle["many"],
        "thread_scaling": middle["many"] / middle["one"] / most,
        "original_control_steps_per_s_measured_elsewhere": ORIGINAL_STEPS_PER_S,
        "times_original_measured_elsewhere": middle["one"] / ORIGINAL_STEPS_PER_S,
        "tables": n,
        "rounds": rounds,
    }
