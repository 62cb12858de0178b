"""The gated unit: its draws and its formulas."""

import numpy as np

from blindsave.policies.students import family

SEED = 14303


def draw(rng, out, inner):
    return rng.normal(0.0, (2.0 / (out + inner)) ** 0.5, size=(out, inner)).astype(np.float32)


def test_gru_draws_in_the_written_order():
    rng = np.random.default_rng(SEED)
    names = ("encoder.0.weight", "encoder.1.weight", "core.W_ih", "core.W_hh", "head.0.weight", "head.1.weight")
    shapes = ((64, 19), (32, 64), (192, 34), (192, 64), (64, 96), (2, 64))
    params = family("gru_n64").init(SEED)
    for name, shape in zip(names, shapes, strict=True):
        assert np.array_equal(params[name], draw(rng, *shape)), name


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
