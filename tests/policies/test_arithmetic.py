"""The canonical arithmetic against float64 mathematics and against its own definition written as scalar loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blindsave.policies import arithmetic as canonical

F = np.float32
MODERATE = st.floats(-50.0, 50.0, width=32)


def grid(low: float, high: float, count: int = 20001) -> np.ndarray:
    return np.linspace(low, high, count).astype(np.float32)


@pytest.mark.parametrize(
    ("function", "truth", "low", "high", "relative", "absolute"),
    [
        (canonical.exp, np.exp, -86.0, 87.0, 3e-7, 0.0),
        (canonical.log, np.log, 1e-6, 1e6, 3e-7, 1e-7),
        (canonical.tanh, np.tanh, -20.0, 20.0, 0.0, 2e-7),
        (canonical.sigmoid, lambda x: 1 / (1 + np.exp(-x)), -40.0, 40.0, 5e-7, 0.0),
        (canonical.silu, lambda x: x / (1 + np.exp(-x)), -40.0, 40.0, 5e-7, 0.0),
        (canonical.symlog, lambda x: np.sign(x) * np.log1p(np.abs(x)), -100.0, 100.0, 3e-7, 2e-7),
        (canonical.bound, lambda x: x / np.maximum(1, np.abs(x)), -5.0, 5.0, 1e-7, 0.0),
    ],
)
def test_functions_are_accurate(function, truth, low, high, relative, absolute):
    x = grid(low, high)
    result = function(x)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, truth(x.astype(np.float64)), rtol=relative, atol=absolute)


def test_extreme_arguments_stay_finite_and_ordered():
    x = np.array([-np.inf, -1e30, -88.0, 88.5, 1e30, np.inf], F)
    assert np.isfinite(canonical.exp(x)).all()
    assert np.isfinite(canonical.tanh(x)).all() and np.abs(canonical.tanh(x)).max() == 1.0
    assert canonical.sigmoid(F(100.0)) == 1.0 and 0.0 < canonical.sigmoid(F(-1e30)) < 1e-37
    assert canonical.exp(F(0.0)) == 1.0 and canonical.tanh(F(0.0)) == 0.0 and canonical.log(F(1.0)) == 0.0


def test_a_few_bit_patterns_never_change():
    """Frozen bits: whoever changes the arithmetic must change its version as well."""
    x = np.array([-3.7, -0.1, 0.3, 1.0, 12.5], F)
    assert canonical.ARITHMETIC == "blindsave_float32_v1"
    found = {
        name: [f"{v:08x}" for v in getattr(canonical, name)(np.abs(x) if name == "log" else x).view(np.uint32)]
        for name in ("exp", "log", "tanh", "silu", "sigmoid", "symlog")
    }
    assert found == FROZEN


def scalar_linear(x, weight, start):
    total = [F(v) for v in start]
    for o in range(weight.shape[0]):
        for i in range(weight.shape[1]):
            total[o] = F(total[o] + F(weight[o, i] * x[i]))
    return np.array(total, F)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 9), st.integers(1, 40), st.integers(0, 2**31))
def test_linear_adds_products_in_the_order_of_the_inputs(out, inner, seed):
    rng = np.random.default_rng(seed)
    x, w, b = (rng.normal(size=s).astype(F) for s in ((inner,), (out, inner), (out,)))
    assert canonical.linear(x, w, b).tobytes() == scalar_linear(x, w, b).tobytes()


def test_linear_gives_the_same_bits_for_few_and_for_many_rows():
    rng = np.random.default_rng(0)
    x, w, b = (rng.normal(size=s).astype(F) for s in ((400, 96), (64, 96), (64,)))
    many = canonical.linear(x, w, b)
    assert all(canonical.linear(x[i : i + 1], w, b).tobytes() == many[i : i + 1].tobytes() for i in range(0, 400, 37))


def test_block_linear_maps_each_slice_by_itself():
    rng = np.random.default_rng(1)
    x, w, b = (rng.normal(size=s).astype(F) for s in ((3, 12), (4, 5, 3), (20,)))
    result = canonical.linear(x, w, b)
    for g in range(4):
        alone = canonical.linear(x[:, 3 * g : 3 * g + 3], w[g], b[5 * g : 5 * g + 5])
        assert np.array_equal(result[:, 5 * g : 5 * g + 5], alone)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float32, st.integers(1, 70), elements=MODERATE))
def test_lane_sum_is_sixteen_running_sums_and_a_tree(x):
    lanes = [F(0.0)] * 16
    for i, value in enumerate(x):
        lanes[i % 16] = F(lanes[i % 16] + value)
    for width in (8, 4, 2, 1):
        lanes = [F(lanes[k] + lanes[k + width]) for k in range(width)]
    assert canonical.lane_sum(x)[0] == lanes[0]


def test_rmsnorm_normalises():
    x = np.random.default_rng(2).normal(size=(5, 64)).astype(F)
    scale = np.linspace(0.5, 2.0, 64, dtype=F)
    expected = scale * x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-4)
    np.testing.assert_allclose(canonical.rmsnorm(x, scale, 1e-4), expected, rtol=1e-6)


def test_onehot_takes_the_first_of_equal_values():
    x = np.array([[1.0, 3.0, 3.0, 2.0, -1.0, -5.0, -1.0, -1.0]], F)
    assert canonical.onehot(x, 4).tolist() == [[0, 1, 0, 0, 1, 0, 0, 0]]


def test_maximum_and_minimum_keep_the_first_of_equal_values():
    zero, minus_zero = np.zeros(1, F), -np.zeros(1, F)
    for function in (canonical.maximum, canonical.minimum):
        assert not np.signbit(function(zero, minus_zero)) and np.signbit(function(minus_zero, zero))


FROZEN = {
    "exp": ["3cca88fe", "3f67a36d", "3facc82c", "402df854", "48830629"],
    "log": ["3fa77773", "c0135d8e", "bf9a1bc8", "00000000", "4021a58a"],
    "tanh": ["bf7fafee", "bdcc1eba", "3e9526ee", "3f42f7d6", "3f800000"],
    "silu": ["bdb6d32d", "bd42918b", "3e307800", "3f3b26a8", "4147ffd0"],
    "sigmoid": ["3cc5a607", "3ef335ed", "3f130eaa", "3f3b26a8", "3f7fffc2"],
    "symlog": ["bfc61687", "bdc331ff", "3e86549b", "3f317218", "40269278"],
}
