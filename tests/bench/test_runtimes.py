"""Other runtimes of the latency bench."""

import sys

import numpy as np
import pytest

from blindsave.bench.runtimes import onnx_stepper, torch_stepper
from blindsave.policies.students.student import Student


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


@pytest.mark.parametrize("name", ["feed_forward", "structured_k2", "gru_n64"])
def test_torch_computes_the_same_policy(name):
    pytest.importorskip("torch")
    student = Student.untrained(name, 14303)
    step, session = torch_stepper(student.program), student.session()
    for observation in np.random.default_rng(0).uniform(-1, 1, (10, 19)).astype(np.float32):
        np.testing.assert_allclose(np.asarray(step(observation)), session.step(observation), atol=1e-5)


@pytest.mark.parametrize(
    ("module", "make"), [("torch", torch_stepper), ("onnxruntime", lambda program: onnx_stepper(b"", program))]
)
def test_a_runtime_that_is_not_installed_is_left_out(monkeypatch, module, make):
    monkeypatch.setitem(sys.modules, module, None)
    assert make(Student.untrained("feed_forward", 1).program) is None
