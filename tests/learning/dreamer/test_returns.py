"""Lambda returns and the scale of advantages by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.learning.dreamer import returns
from blindsave.learning.dreamer.config import Learning


def test_imagined_returns_by_hand():
    # Two steps: R_1 = r_2 + c_2 v_2 (both terms of the mixture are v_2), R_0 = r_1 + c_1 (0.05 v_1 + 0.95 R_1).
    r, c, v = jnp.array([9.0, 1.0, 2.0]), jnp.array([9.0, 0.9, 0.5]), jnp.array([9.0, 3.0, 4.0])
    second = 2.0 + 0.5 * 4.0
    first = 1.0 + 0.9 * (0.05 * 3.0 + 0.95 * second)
    np.testing.assert_allclose(returns.imagined(r, c, v, 0.95), [first, second], rtol=1e-6)


def test_replayed_returns_stop_at_ends_and_bootstrap_only_where_life_goes_on():
    reward = jnp.array([9.0, 1.0, 2.0, 3.0])
    bootstrap = jnp.array([9.0, 10.0, 20.0, 30.0])
    no = jnp.zeros(4, bool)
    at = lambda i: no.at[i].set(True)  # noqa: E731
    plain = np.asarray(returns.replayed(reward, no, no, bootstrap, 0.9, 0.5))
    third = 3.0 + 0.9 * 30.0
    second = 2.0 + 0.9 * (0.5 * 20.0 + 0.5 * third)
    np.testing.assert_allclose(plain, [1.0 + 0.9 * (0.5 * 10.0 + 0.5 * second), second, third], rtol=1e-6)
    terminal = np.asarray(returns.replayed(reward, at(2), at(2), bootstrap, 0.9, 0.5))
    np.testing.assert_allclose(terminal[1], 2.0)
    truncated = np.asarray(returns.replayed(reward, no, at(2), bootstrap, 0.9, 0.5))
    np.testing.assert_allclose(truncated[1], 2.0 + 0.9 * 20.0, rtol=1e-6)


def test_return_spread_moves_slowly_from_zero_and_its_scale_has_a_floor():
    c = Learning()
    spread = returns.update_spread(returns.Spread.zero(), jnp.linspace(-100, 100, 201), c)
    np.testing.assert_allclose(spread, [-0.9, 0.9], rtol=1e-5)
    assert float(returns.return_scale(spread, c)) == pytest.approx(1.8, rel=1e-5)
    again = returns.update_spread(spread, jnp.zeros(10), c)
    np.testing.assert_allclose(again, [-0.891, 0.891], rtol=1e-5)
    assert float(returns.return_scale(returns.Spread(jnp.float32(0), jnp.float32(0.3)), c)) == 1.0
