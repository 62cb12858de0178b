"""The ONNX graph: explicit state, the same policy within 1e-5."""

import numpy as np
import pytest

pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

from blindsave.deploy.onnx_graph import export_onnx, onnx_error, onnx_model  # noqa: E402
from blindsave.policies.native import ProgramPolicy  # noqa: E402
from blindsave.policies.students import families, family  # noqa: E402
from blindsave.policies.students.student import Provenance, Student  # noqa: E402
from blindsave.policies.trace import trace  # noqa: E402
from blindsave.testing.contract import randomised_params  # noqa: E402

F = np.float32


@pytest.mark.parametrize("name", families())
def test_every_family_agrees_over_an_episode(name, tmp_path):
    student = Student(family(name), randomised_params(family(name), 1), Provenance(1))
    error = onnx_error(export_onnx(student, tmp_path), student, steps=125)
    assert error is not None and error <= 1e-5


def test_state_is_explicit_and_named():
    model = onnx_model(Student.untrained("gru_n64", 1).program, "gru")
    assert [value.name for value in model.graph.input] == ["observation", "carry"]
    assert [value.name for value in model.graph.output] == ["action", "carry_out"]


def test_a_memoryless_policy_has_no_state():
    model = onnx_model(Student.untrained("feed_forward", 1).program, "ff")
    assert [value.name for value in model.graph.input] == ["observation"]
    assert [value.name for value in model.graph.output] == ["action"]


def test_batches_of_any_size_run(tmp_path):
    student = Student.untrained("finite_stack_10", 2)
    session = ort.InferenceSession(str(export_onnx(student, tmp_path)), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    carry, seen = rng.normal(size=(7, 30)).astype(F), rng.uniform(-1, 1, (7, 19)).astype(F)
    action, carry_out = session.run(None, {"observation": seen, "carry": carry})
    expected = student.step(carry, seen)
    np.testing.assert_allclose(action, expected[1], atol=1e-5)
    assert np.array_equal(carry_out, expected[0])


def test_all_operations_of_a_larger_network_have_an_onnx_form(tmp_path):
    rng = np.random.default_rng(0)
    weight, blocks = rng.normal(size=(24, 19)).astype(F), rng.normal(size=(4, 6, 5)).astype(F)
    scale = rng.normal(size=24).astype(F)

    def step(ops, carry, seen):
        x = ops.rmsnorm(ops.linear(ops.symlog(3.0 * seen), weight), scale, 1e-4)
        y = ops.linear(ops.bound(x[..., :20]), blocks, carry)
        z = ops.onehot(y, 4) + ops.sqrt(ops.exp(y) / ops.log(2.0 + ops.maximum(y, 0.5))) - ops.minimum(y, 0.25)
        return 0.1 * ops.sigmoid(z), ops.tanh(z[..., 3:5])

    policy = ProgramPolicy("every/op", trace(step, carry=24, observation=19))
    error = onnx_error(export_onnx(policy, tmp_path), policy, steps=60)
    assert error is not None and error <= 1e-5
