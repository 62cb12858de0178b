"""Tracing: what a step function does becomes a program, and nothing else does."""

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies.trace import Tracer, trace

F = np.float32


def test_computations_on_parameters_alone_become_constants():
    alpha = np.array([0.5, -0.25, 2.0], F)
    program = trace(lambda ops, carry, seen: (ops.tanh(alpha) * carry, seen), carry=3, observation=2)
    assert [op.kind for op in program.ops] == ["mul"]
    from blindsave.policies import arithmetic

    assert program.constants[0].tobytes() == arithmetic.tanh(alpha).tobytes()


def test_numpy_operands_on_the_left_are_traced_too():
    vector = np.array([1.0, 2.0], F)
    program = trace(lambda ops, c, o: (c, vector - o / (1.0 + vector * o)), carry=0, observation=2)
    assert program.run(np.zeros((1, 0), F), np.array([[3.0, 1.0]], F))[1].tolist() == [[0.25, F(2) - F(1) / F(3)]]


def test_equal_constants_are_kept_once():
    program = trace(lambda ops, c, o: (c, (1.0 + o) * (1.0 + o * 1.0)), carry=0, observation=4)
    assert len(program.constants) == 1


def test_written_numbers_do_not_count_as_learned():
    program = trace(lambda ops, c, o: (c, o * 2.0 + np.ones(3, F) * o), carry=0, observation=3)
    assert sorted(program.learned) == [False, True]


def test_the_tape_is_reused():
    def deep(ops, carry, seen):
        for _ in range(50):
            seen = ops.tanh(seen)
        return carry, seen

    assert trace(deep, carry=0, observation=16).tape <= 48


def test_results_survive_reuse_of_the_tape():
    def step(ops, carry, seen):
        early = seen + 1.0
        late = early
        for _ in range(5):
            late = late + 1.0
        return early, late

    carry, action = trace(step, carry=2, observation=2).run(np.zeros((1, 2), F), np.zeros((1, 2), F))
    assert carry.tolist() == [[1.0, 1.0]] and action.tolist() == [[6.0, 6.0]]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (lambda ops, c, o: (o, c), "carry of 3 floats"),
        (lambda ops, c, o: (c + o, o), "cannot combine vectors"),
        (lambda ops, c, o: (c * np.ones(2, F), o), "cannot combine a parameter"),
        (lambda ops, c, o: (c[..., ::2], o), "stride one"),
        (lambda ops, c, o: (c[0, :], o), "can be traced"),
        (lambda ops, c, o: (ops.linear(c, np.ones((3, 4), F)), o), "cannot combine vectors"),
    ],
)
def test_what_cannot_be_traced_is_refused_with_the_reason(step, reason):
    with pytest.raises(BadInput, match=reason):
        trace(step, carry=3, observation=5)


def test_unknown_operations_are_attribute_errors():
    with pytest.raises(AttributeError):
        _ = Tracer().gelu
