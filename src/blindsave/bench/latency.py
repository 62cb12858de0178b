"""How long one policy step takes, batch one, by the protocol of docs/latency.md.

A fixed observation, an evolving carry, warm-up calls, then blocks of timed calls; every runtime's blocks are
interleaved, so that a slow phase of the machine hits all of them.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from blindsave.bench.plain_numpy import plain_numpy
from blindsave.bench.runtimes import onnx_stepper, torch_stepper
from blindsave.policies.arithmetic import Array
from blindsave.policies.native import ProgramPolicy
from blindsave.task.interface import OBSERVATION_FLOATS, PUCK, VISIBLE

DEADLINE_US = 20_000.0
"""One control step at 50 Hz."""
SINGLE_CALLS = 10_000
"""Separately timed calls, for the 99th percentile and the worst."""

Loop = Callable[[int], None]
"""Runs that many steps."""


@dataclass(frozen=True)
class Protocol:
    """Sizes of one measurement."""

    warm_up: int = 10_000
    blocks: int = 10
    calls: int = 10_000


def fixed_observation() -> Array:
    """19 values evenly spaced from -0.5 to 0.5, the last three zero: a hidden puck."""
    observation = np.linspace(-0.5, 0.5, OBSERVATION_FLOATS, dtype=np.float32)
    observation[PUCK], observation[VISIBLE] = 0.0, 0.0
    return observation


def runtimes(policy: ProgramPolicy, model: bytes | None = None) -> tuple[dict[str, Loop], dict[str, Callable]]:
    """Loops by runtime name, and single calls for those that are called from Python."""
    observation = fixed_observation()
    calls: dict[str, Any] = {"python": policy.session().step, "numpy": plain_numpy(policy.program)}
    if model is not None:
        calls["onnxruntime"] = onnx_stepper(model, policy.program)
    calls["torch"] = torch_stepper(policy.program)
    calls = {name: call for name, call in calls.items() if call is not None}
    loops = {name: _loop(call, observation) for name, call in calls.items()}
    kernel = policy.kernel
    if kernel is not None:
        carry, action = policy.initial(1)[0], np.zeros((1, policy.program.action), np.float32)
        loops = {"native": lambda steps: kernel.loop(carry, observation[None], action, steps)} | loops
    return loops, {name: (lambda call=call: call(observation)) for name, call in calls.items()}


def _loop(call: Callable[[Array], Any], observation: Array) -> Loop:
    def loop(steps: int) -> None:
        for _ in range(steps):
            call(observation)

    return loop


def measure(policy: ProgramPolicy, protocol: Protocol, model: bytes | None = None) -> dict[str, dict[str, float]]:
    """Microseconds per step and runtime: median, 95th percentile and best of block means; p99 and worst single call.

    On a machine that also does other work the best block is the truer figure.
    """
    loops, calls = runtimes(policy, model)
    for loop in loops.values():
        loop(protocol.warm_up)
    means: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(protocol.blocks):
        for name, loop in loops.items():
            start = time.perf_counter_ns()
            loop(protocol.calls)
            means[name].append((time.perf_counter_ns() - start) / protocol.calls / 1e3)
    result = {
        name: {"median": float(np.median(m)), "p95": float(np.percentile(m, 95)), "best": min(m)}
        for name, m in means.items()
    }
    for name, call in calls.items():
        single = _single_calls(call, min(SINGLE_CALLS, protocol.calls))
        result[name] |= {"p99": float(np.percentile(single, 99)), "worst": float(single.max())}
    return result


def _single_calls(call: Callable[[], Any], count: int) -> Any:
    clock, times = time.perf_counter_ns, np.empty(count)
    for index in range(count):
        start = clock()
        call()
        times[index] = clock() - start
    return times / 1e3


def summarise(per_seed: list[dict[str, dict[str, float]]]) -> dict[str, float]:
    """One flat record per family: the median over seeds of each statistic, ratios, and the slack at 50 Hz."""
    record = {}
    for name in per_seed[0]:
        for key in per_seed[0][name]:
            value = float(np.median([seed[name][key] for seed in per_seed]))
            record[f"{name}_us" if key == "median" else f"{name}_{key}_us"] = value
    record["deadline_slack_us"] = DEADLINE_US - max(seed["python"]["worst"] for seed in per_seed)
    record["numpy_over_python"] = record["numpy_us"] / record["python_us"]
    if "native_us" in record:
        record["numpy_over_native"] = record["numpy_us"] / record["native_us"]
    return record


@contextlib.contextmanager
def pinned(cpu: int) -> Iterator[bool]:
    """Run on one logical CPU where the system allows it; says whether it does."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if cpu not in allowed:
        yield False
        return
    os.sched_setaffinity(0, {cpu})
    try:
        yield True
    finally:
        os.sched_setaffinity(0, allowed)


def clock_facts(cpu: int) -> dict[str, str | None]:
    """Frequency governor and present frequency, where the system tells."""
    folder = Path(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq")

    def read(name: str) -> str | None:
        try:
            return (folder / name).read_text().strip()
        except OSError:
            return None

    return {"governor": read("scaling_governor"), "frequency_khz": read("scaling_cur_freq")}
