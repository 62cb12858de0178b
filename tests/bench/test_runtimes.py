"""Other runtimes of the latency bench."""

import numpy as np
import pytest

from blindsave.bench.runtimes import onnx_stepper
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
