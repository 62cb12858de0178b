"""Programs in C and without C: packing, refusals, sessions, and the same bits either way."""

import logging
import struct

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies import native
from blindsave.policies.native import OP_FORMAT, ProgramPolicy, kernel_module, pack_constants
from blindsave.policies.program import KINDS
from blindsave.policies.students.registry import family
from blindsave.policies.students.student import Student
from blindsave.policies.trace import trace

F = np.float32
SEEN = np.random.default_rng(0).uniform(-1, 1, (6, 19)).astype(F)


@pytest.fixture
def without_kernel(monkeypatch):
    monkeypatch.setenv(native.PATH_VARIABLE, "reference")
    kernel_module.cache_clear()
    yield
    kernel_module.cache_clear()


def test_constants_start_on_whole_groups_of_lanes_with_outputs_last():
    weight, bias = np.arange(6, dtype=F).reshape(2, 3), np.array([7.0, 8.0], F)
    program = trace(lambda ops, c, o: (c, ops.linear(o, weight, bias)), carry=0, observation=3)
    offsets, block = pack_constants(program)
    floats = np.frombuffer(block, "<f4")
    assert all(offset % 16 == 0 for offset in offsets)
    assert len(floats) % 16 == 0
    by_shape = {array.shape: offset for array, offset in zip(program.constants, offsets, strict=True)}
    for column in range(3):
        start = by_shape[2, 3] + 16 * column
        assert floats[start : start + 3].tolist() == [weight[0, column], weight[1, column], 0.0]
    assert floats[by_shape[2,] : by_shape[2,] + 3].tolist() == [7.0, 8.0, 0.0]


def test_an_operation_is_encoded_with_its_number_places_and_setting():
    program = trace(lambda ops, c, o: (c, ops.onehot(o, 4)), carry=0, observation=8)
    (op,) = program.ops
    kind, out, size, a, b, c, inner, blocks, number = struct.unpack(
        OP_FORMAT, native._encode(op, program, lambda arg: arg.offset)
    )
    assert KINDS[kind] == "onehot"
    assert (out, size) == tuple(op.out)
    assert a == b == c == program.observation_in.offset
    assert (inner, blocks, number) == (4, 1, 4.0)


def test_without_a_kernel_the_reference_gives_the_same_bits(without_kernel, request):
    slow = Student.untrained("structured_k2", 3)
    assert slow.kernel is None and slow.native is None and native.paths() == []
    slow_result = slow.unroll(SEEN)
    session = slow.session()
    by_session = np.stack([session.step(row).copy() for row in SEEN])
    assert by_session.tobytes() == slow_result[1].tobytes()
    session.reset()
    assert not session.carry.any()
    assert session.step(SEEN[0]).tobytes() == slow_result[1][0].tobytes()
    request.getfixturevalue("monkeypatch").delenv(native.PATH_VARIABLE)
    kernel_module.cache_clear()
    if not native.paths():
        pytest.skip("the C kernel was not compiled")
    for one, other in zip(Student.untrained("structured_k2", 3).unroll(SEEN), slow_result, strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_missing_kernel_is_said_once(monkeypatch, caplog):
    import sys

    import blindsave.policies

    monkeypatch.delenv(native.PATH_VARIABLE, raising=False)
    monkeypatch.delattr(blindsave.policies, "_kernel", raising=False)
    monkeypatch.setitem(sys.modules, "blindsave.policies._kernel", None)
    kernel_module.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "blindsave"):
            assert kernel_module() is kernel_module() is None
        assert [record.message for record in caplog.records] == [
            "blindsave: the C kernel was not compiled; policies run in the NumPy reference, about 100 times slower"
        ]
    finally:
        kernel_module.cache_clear()


@pytest.mark.parametrize("compiled", [True, False])
def test_wrong_shapes_and_values_that_are_not_finite_are_refused_by_name(compiled, request):
    if not compiled:
        request.getfixturevalue("without_kernel")
    policy = Student.untrained("gru_n64", 3)
    with pytest.raises(BadInput, match=r"gru_n64/3 needs observations of shape \(2, 19\), not \(2, 18\)"):
        policy.step(policy.initial(2), np.zeros((2, 18), F))
    with pytest.raises(BadInput, match=r"needs carries of shape \(2, 66\), not \(3, 66\)"):
        policy.step(policy.initial(3), np.zeros((2, 19), F))
    with pytest.raises(BadInput, match="not finite"):
        policy.step(policy.initial(1), np.full((1, 19), np.nan, F))


@pytest.mark.skipif(not native.paths(), reason="the C kernel was not compiled")
def test_a_vector_path_that_does_not_exist_is_refused():
    kind = family("feed_forward")
    with pytest.raises(ValueError, match="mmx"):
        ProgramPolicy("x", kind.program(kind.init(0)), "mmx")


def test_sessions_of_one_policy_are_separate_episodes():
    policy = Student.untrained("mingru_n64", 5)
    first, second = policy.session(), policy.session()
    for row in SEEN[:3]:
        first.step(row)
    assert second.step(SEEN[0]).tobytes() == policy.unroll(SEEN[:1])[1][0].tobytes()
    assert first.carry.tobytes() != second.carry.tobytes()
