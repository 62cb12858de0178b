"""The latency bench measures what it says; its figures are not asserted here."""

import os

import numpy as np
import pytest

from blindsave.bench import latency
from blindsave.bench.plain_numpy import plain_numpy
from blindsave.bench.runtimes import onnx_stepper
from blindsave.errors import BadInput
from blindsave.policies.students import families
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace


@pytest.mark.parametrize("name", families())
def test_the_numpy_yardstick_computes_the_same_policy(name):
    student = Student.untrained(name, 14303)
    step, session = plain_numpy(student.program), student.session()
    for observation in np.random.default_rng(0).uniform(-1, 1, (30, 19)).astype(np.float32):
        np.testing.assert_allclose(step(observation), session.step(observation), atol=1e-5)


def test_the_numpy_yardstick_checks_its_input_too():
    with pytest.raises(ValueError, match="finite"):
        plain_numpy(Student.untrained("gru_n64", 1).program)(np.full(19, np.nan, np.float32))


def test_operations_without_a_yardstick_are_refused():
    with pytest.raises(BadInput, match="onehot"):
        plain_numpy(trace(lambda ops, c, o: (c, ops.onehot(o, 4)), carry=0, observation=4))


@pytest.mark.parametrize("name", ["feed_forward", "structured_k2", "gru_n64"])
def test_other_runtimes_compute_the_same_policy(name):
    student = Student.untrained(name, 14303)
    onnx_graph = pytest.importorskip("blindsave.deploy.onnx_graph")
    pytest.importorskip("onnxruntime")
    model = onnx_graph.onnx_model(student.program, student.name).SerializeToString()
    steps = [onnx_stepper(model, student.program)]
    session = student.session()
    for observation in np.random.default_rng(0).uniform(-1, 1, (30, 19)).astype(np.float32):
        expected = session.step(observation)
        for step in steps:
            np.testing.assert_allclose(np.asarray(step(observation)).reshape(-1), expected, atol=1e-5)


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
