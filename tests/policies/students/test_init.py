"""Initial parameters: the order of the draws and the shared streams are part of the study."""

import numpy as np
import pytest

from blindsave.policies.students import PAPER_FAMILIES, family

SEED = 14303


def draw(rng, out, inner):
    return rng.normal(0.0, (2.0 / (out + inner)) ** 0.5, size=(out, inner)).astype(np.float32)


@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_structured_draws_in_the_written_order(rank):
    rng = np.random.default_rng(SEED)
    expected = {"encoder.0.weight": draw(rng, 64, 19), "encoder.1.weight": draw(rng, 32, 64)}
    expected |= {"core.B_e": draw(rng, 64, 32), "core.B_a": draw(rng, 64, 2)}
    shapes = {"U": (64, 2), "V": (2, 64), "W_e": (2, 32), "W_a": (2, 2)}
    innovation = {f"core.{name}": draw(rng, *shape) for name, shape in shapes.items()}
    expected |= {"head.0.weight": draw(rng, 64, 96), "head.1.weight": draw(rng, 2, 64)}
    if rank in (1, 4):
        own = np.random.default_rng(np.random.SeedSequence([SEED, rank, 169328862]))
        shapes = {"U": (64, rank), "V": (rank, 64), "W_e": (rank, 32), "W_a": (rank, 2)}
        innovation = {f"core.{name}": draw(own, *shape) for name, shape in shapes.items()}
    expected |= innovation if rank else {}
    params = family(f"structured_k{rank}").init(SEED)
    for name, array in expected.items():
        assert np.array_equal(params[name], array), name
    others = set(params) - set(expected) - {"core.alpha"}
    assert all(not params[name].any() for name in others), "all biases start at zero"


def test_everything_but_the_innovation_is_equal_across_ranks():
    reference = family("structured_k0").init(SEED)
    for rank in (1, 2, 4):
        params = family(f"structured_k{rank}").init(SEED)
        assert all(params[name].tobytes() == array.tobytes() for name, array in reference.items())


def test_alpha_spans_the_written_time_constants():
    alpha = family("structured_k0").init(SEED)["core.alpha"]
    assert np.round([alpha[0], alpha[-1]], 5).tolist() == pytest.approx([0.70341, 2.64916], abs=1e-7)
    assert np.round(np.tanh(alpha.astype(np.float64))[[0, -1]], 5).tolist() == [0.60653, 0.99005]
    assert (np.diff(alpha) > 0).all()


def test_gru_draws_in_the_written_order():
    rng = np.random.default_rng(SEED)
    names = ("encoder.0.weight", "encoder.1.weight", "core.W_ih", "core.W_hh", "head.0.weight", "head.1.weight")
    shapes = ((64, 19), (32, 64), (192, 34), (192, 64), (64, 96), (2, 64))
    params = family("gru_n64").init(SEED)
    for name, shape in zip(names, shapes, strict=True):
        assert np.array_equal(params[name], draw(rng, *shape)), name


def test_families_with_equal_encoders_share_their_first_draws():
    first = {name: family(name).init(SEED)["encoder.1.weight"] for name in PAPER_FAMILIES}
    same = {name for name in first if np.array_equal(first[name], first["gru_n64"])}
    assert same == set(PAPER_FAMILIES) - {"finite_stack_10"}


def test_gru_is_the_textbook_cell():
    """Against float64 formulas with gates in the order reset, update, new."""
    from blindsave.policies import arithmetic
    from blindsave.testing.contract import randomised_params

    kind = family("gru_n64")
    p = {k: v.astype(np.float64) for k, v in kind.core_parameters(randomised_params(kind, 0)).items()}
    rng = np.random.default_rng(1)
    e, a, h = rng.normal(size=32), rng.uniform(-1, 1, 2), rng.normal(size=64)
    x = p["W_ih"] @ np.concatenate((e, a)) + p["b_ih"]
    y = p["W_hh"] @ h + p["b_hh"]
    r, u = (1 / (1 + np.exp(-(x[i : i + 64] + y[i : i + 64]))) for i in (0, 64))
    expected = (1 - u) * np.tanh(x[128:] + r * y[128:]) + u * h
    p32 = {k: v.astype(np.float32) for k, v in p.items()}
    e, a, h = (v.astype(np.float32) for v in (e, a, h))
    found = kind.core.advance(arithmetic, p32, h, kind.core.drive(arithmetic, p32, e, a))
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("rank", [0, 2])
def test_structured_is_the_written_update(rank):
    from blindsave.policies import arithmetic
    from blindsave.testing.contract import randomised_params

    kind = family(f"structured_k{rank}")
    p = {k: v.astype(np.float64) for k, v in kind.core_parameters(randomised_params(kind, 0)).items()}
    rng = np.random.default_rng(1)
    e, a, z = rng.normal(size=32), rng.uniform(-1, 1, 2), rng.normal(size=64)
    expected = np.tanh(p["alpha"]) * z + p["B_e"] @ e + p["B_a"] @ a + p["b_z"]
    if rank:
        expected += p["U"] @ np.tanh(p["V"] @ z + p["W_e"] @ e + p["W_a"] @ a + p["b_r"])
    p32 = {k: v.astype(np.float32) for k, v in p.items()}
    e, a, z = (v.astype(np.float32) for v in (e, a, z))
    found = kind.core.advance(arithmetic, p32, z, kind.core.drive(arithmetic, p32, e, a))
    np.testing.assert_allclose(found, expected, atol=3e-6)


def test_the_stack_holds_ten_readings_oldest_first():
    from blindsave.policies import arithmetic

    core, memory = family("finite_stack_10").core, np.zeros((1, 30), np.float32)
    for step in range(1, 13):
        seen = np.full((1, 19), 0.5, np.float32)
        seen[0, 16:] = [step, -step, 1.0]
        memory, x = core.observe(arithmetic, memory, seen)
    assert memory[0].tolist() == [v for step in range(3, 13) for v in (step, -step, 1.0)]
    assert x[0].tolist() == [0.5] * 16 + memory[0].tolist()


def test_the_own_previous_action_is_fed_back():
    from blindsave.policies.students.student import Student

    for name in ("structured_k0", "gru_n64"):
        student = Student.untrained(name, SEED)
        carry, action = student.step(student.initial(2), np.full((2, 19), 0.3, np.float32))
        assert carry[:, -2:].tobytes() == action.tobytes()
