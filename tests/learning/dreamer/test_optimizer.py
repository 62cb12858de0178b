"""The optimiser against plain NumPy."""

import dreamer_oracle as oracle
import jax
import jax.numpy as jnp
import numpy as np

from blindsave.learning.dreamer import optimizer
from blindsave.learning.dreamer.config import Learning


def test_optimiser_equals_plain_numpy_per_tensor():
    rng = np.random.default_rng(0)
    start = {"kernel": rng.normal(size=(11, 17)), "bias": np.zeros(130), "tiny": rng.normal(size=(2, 3, 5)) * 1e-5}
    gradients = {name: rng.normal(size=(6, *v.shape)) * rng.choice([1e-4, 1.0, 30.0]) for name, v in start.items()}
    c = Learning(learning_rate=1e-2, warmup=3)
    params = {name: jnp.asarray(v, jnp.float32) for name, v in start.items()}
    moments = optimizer.init(params)
    step = jax.jit(lambda g, m, p: optimizer.update(g, m, p, c))
    for i in range(6):
        g = {name: jnp.asarray(v[i], jnp.float32) for name, v in gradients.items()}
        params, moments, log = step(g, moments, params)
        if i == 0:
            assert float(log["learning_rate"]) == 0.0
    for name, value in start.items():
        wanted = oracle.laprop(6, lambda n, name=name: gradients[name][n - 1], value, 1e-2, 3)
        np.testing.assert_allclose(params[name], wanted, rtol=1e-4, atol=1e-6, err_msg=name)


def test_packing_keeps_every_number_and_pads_with_zeros():
    tree = {"a": jnp.arange(130.0), "b": jnp.float32(3.0), "c": jnp.ones((2, 64))}
    packed = optimizer.pack(tree)
    assert packed.shape == (4, 128)
    assert float(packed.sum()) == 129 * 65 + 3 + 128
    jax.tree.map(np.testing.assert_array_equal, optimizer.unpack(packed, tree), tree)
