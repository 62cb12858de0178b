"""The structured memory: its draws, its time constants, its update."""

import numpy as np
import pytest

from blindsave.policies.students import family

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


def test_combined_steps_of_the_linear_memory_equal_steps_in_turn():
    from blindsave.policies import arithmetic

    kind, rng = family("structured_k0"), np.random.default_rng(0)
    p = kind.core_parameters(kind.init(SEED))
    drives = [
        kind.core.drive(arithmetic, p, rng.normal(size=32).astype(np.float32), np.float32([0.1, 0.2])) for _ in range(2)
    ]
    memory = rng.normal(size=64).astype(np.float32)
    turn = kind.core.advance(arithmetic, p, kind.core.advance(arithmetic, p, memory, drives[0]), drives[1])
    joined = kind.core.combine(arithmetic, *drives)
    np.testing.assert_allclose(kind.core.advance(arithmetic, p, memory, joined), turn, atol=1e-5)
    assert kind.core.associative and not family("structured_k1").core.associative


def test_half_lives_are_what_the_decay_says():
    """A cell left alone for its time constant keeps 1/e of its content."""
    from blindsave.policies.students.structured import LONGEST_S, SHORTEST_S, STEP_S, decay_logits

    kept = np.tanh(decay_logits(3).astype(float))
    seconds = np.array([SHORTEST_S, np.sqrt(SHORTEST_S * LONGEST_S), LONGEST_S])
    np.testing.assert_allclose(kept ** (seconds / STEP_S), np.exp(-1), rtol=1e-4)
