"""Encoder, core and head together."""

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.students import PAPER_FAMILIES, family

SEED = 14303


def test_families_with_equal_encoders_share_their_first_draws():
    first = {name: family(name).init(SEED)["encoder.1.weight"] for name in PAPER_FAMILIES}
    same = {name for name in first if np.array_equal(first[name], first["gru_n64"])}
    assert same == set(PAPER_FAMILIES) - {"finite_stack_10"}


def test_the_own_previous_action_is_fed_back():
    from blindsave.policies.students.student import Student

    for name in ("structured_k0", "gru_n64"):
        student = Student.untrained(name, SEED)
        carry, action = student.step(student.initial(2), np.full((2, 19), 0.3, np.float32))
        assert carry[:, -2:].tobytes() == action.tobytes()


def test_the_program_is_the_step_in_every_bit():
    rng = np.random.default_rng(0)
    for name in ("feed_forward", "structured_k2", "lru_n32"):
        kind = family(name)
        params = kind.init(SEED)
        carry = rng.normal(size=(3, kind.carry)).astype(np.float32)
        seen = rng.uniform(-1, 1, (3, 19)).astype(np.float32)
        for one, other in zip(
            kind.program(params).run(carry, seen), kind.step(arithmetic, params, carry, seen), strict=True
        ):
            assert one.tobytes() == other.tobytes(), name


def test_the_core_is_told_its_parameters_by_short_names():
    kind = family("gru_n64")
    assert set(kind.core_parameters(kind.init(1))) == {"W_ih", "W_hh", "b_ih", "b_hh"}


def test_shapes_are_in_the_order_of_the_file():
    names = list(family("structured_k0").shapes)
    assert names[:2] == ["encoder.0.weight", "encoder.0.bias"] and names[-1] == "head.1.bias"
    assert family("gru_n64").shapes["head.0.weight"] == (64, 96)


def test_the_head_of_a_memoryless_family_does_not_read_its_record():
    kind = family("finite_stack_10")
    params, code = kind.init(SEED), np.ones((1, 32), np.float32)
    one, other = (kind.act(arithmetic, params, np.full((1, 30), value, np.float32), code) for value in (0, 1))
    assert one.tobytes() == other.tobytes()
