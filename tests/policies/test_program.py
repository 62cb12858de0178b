"""Programs: the NumPy run that is the oracle of all others, and the bookkeeping of readers without a tape."""

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies.program import KINDS, Const, Op, Pieces, Program, Slot, apply, round_up

F = np.float32
DOUBLE = Program(
    carry=2,
    observation=3,
    action=2,
    tape=48,
    ops=(
        Op("add", Slot(32, 2), (Slot(0, 2), Slot(16, 2))),
        Op("mul", Slot(34, 2), (Slot(17, 2), Const(0))),
    ),
    constants=(np.array([2.0, 10.0], F),),
    learned=(True,),
    carry_out=Slot(32, 2),
    action_out=Slot(34, 2),
)
"""carry + the first two of the observation; the last two of the observation times (2, 10)."""


def test_a_program_written_by_hand_does_what_it_says():
    carry, action = DOUBLE.run(np.array([[1, 2], [0, 0]], F), np.array([[3, 4, 5], [1, 1, 1]], F))
    assert carry.tolist() == [[4, 6], [1, 1]]
    assert action.tolist() == [[8, 50], [2, 10]]
    assert carry.dtype == action.dtype == F


def test_the_observation_begins_on_the_next_whole_group_of_lanes():
    assert DOUBLE.carry_in == Slot(0, 2)
    assert DOUBLE.observation_in == Slot(16, 3)
    assert [round_up(n) for n in (0, 1, 16, 17)] == [0, 16, 16, 32]


def test_a_constant_result_is_given_to_every_row():
    fixed = Program(0, 1, 2, 16, (), (np.array([0.5, -0.5], F),), (True,), Slot(0, 0), Const(0))
    carry, action = fixed.run(np.zeros((3, 0), F), np.zeros((3, 1), F))
    assert carry.shape == (3, 0)
    assert action.tolist() == [[0.5, -0.5]] * 3


def test_the_matrices_of_a_linear_map_have_an_axis_of_blocks():
    op = Op("linear", Slot(16, 4), (Slot(0, 3), Const(0), Const(1)))
    for shape, blocks in (((4, 3), (1, 4, 3)), ((2, 2, 3), (2, 2, 3))):
        program = Program(
            0, 3, 4, 32, (op,), (np.ones(shape, F), np.zeros(4, F)), (True, True), Slot(0, 0), Slot(16, 4)
        )
        assert program.weight(op).shape == blocks


def test_every_operation_can_be_applied_and_an_unknown_one_is_refused():
    x = np.array([[0.5, 2.0]], F)
    extra = {"linear": (np.eye(2, dtype=F), np.zeros(2, F)), "rmsnorm": (np.ones(2, F),), "onehot": ()}
    binary = {"add", "sub", "mul", "div", "maximum", "minimum"}
    for kind in KINDS:
        args = extra.get(kind, (x,) if kind in binary else ())
        assert apply(kind, [x, *args], number=2.0).shape == (1, 2), kind
    with pytest.raises(BadInput, match="no operation `gelu`"):
        apply("gelu", [x])
    with pytest.raises(BadInput, match="no operation `lane_sum`"):  # a function of the arithmetic, but no operation
        apply("lane_sum", [x])


def test_dividing_by_zero_is_silent_and_follows_ieee():
    found = apply("div", [np.array([1.0, -1.0, 0.0], F), np.zeros(3, F)])
    assert found[:2].tolist() == [np.inf, -np.inf] and np.isnan(found[2])


def pieces() -> Pieces:
    return Pieces(lambda value, start, stop: value[start:stop], "".join)


def test_pieces_are_cut_and_joined_as_they_lie():
    tape = pieces()
    tape.write(Slot(0, 4), "abcd")
    tape.write(Slot(4, 4), "efgh")
    assert tape.read(Slot(2, 4)) == "cdef"
    assert tape.read(Slot(4, 4)) == "efgh"


def test_a_later_value_covers_an_earlier_one_in_part():
    tape = pieces()
    tape.write(Slot(0, 6), "abcdef")
    tape.write(Slot(2, 2), "XY")
    assert tape.read(Slot(0, 6)) == "abXYef"
    tape.write(Slot(0, 6), "012345")
    assert tape.read(Slot(1, 4)) == "1234"
