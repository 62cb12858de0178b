"""The latency bench measures what it says; its figures are not asserted here."""

import os

import numpy as np
import pytest

from blindsave.bench import latency
from blindsave.policies.students.student import Student


def test_measurements_hold_every_statistic_and_ratio():
    student = Student.untrained("structured_k0", 14303)
    measured = latency.measure(student, latency.Protocol(warm_up=3, blocks=2, calls=5))
    assert {"python", "numpy"} <= set(measured)
    assert all(value > 0 for statistics in measured.values() for value in statistics.values())
    record = latency.summarise([measured, measured])
    assert record["deadline_slack_us"] == latency.DEADLINE_US - measured["python"]["worst"]
    assert record["numpy_over_python"] == pytest.approx(record["numpy_us"] / record["python_us"])


def test_the_fixed_observation_is_the_protocols():
    seen = latency.fixed_observation()
    assert seen.shape == (19,) and seen[0] == -0.5 and not seen[-3:].any()
    assert np.allclose(np.diff(seen[:16]), 1 / 18)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no pinning on this system")
def test_pinning_is_undone():
    before = os.sched_getaffinity(0)
    with latency.pinned(min(before)) as pinned:
        assert pinned and os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
    with latency.pinned(10**6) as pinned:
        assert not pinned
