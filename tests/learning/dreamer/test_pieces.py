"""The small pieces against hand-computed values: symlog, two-hot, latents, layers, returns, optimiser, schedule."""

import dreamer_oracle as oracle
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.dreamer import heads, latents, model, nets, optimizer, returns, twohot
from blindsave.learning.dreamer.config import Config, Learning, Sizes
from blindsave.learning.dreamer.schedule import Every, TrainRatio


def test_parameter_counts_are_those_of_the_preset():
    params = jax.eval_shape(lambda: model.init(jax.random.key(0), Sizes(19, 2)))
    assert {name: nets.count(part) for name, part in params.items()} == {
        "dynamics": 364_160,
        "encoder": 9_792,
        "decoder": 50_771,
        "reward": 57_663,
        "continue": 41_153,
        "actor": 49_796,
        "critic": 66_111,
    }
    assert nets.count(params) == 639_446
    assert nets.count(model.acting_part(params)) == 378_308


def test_sizes_that_cannot_work_are_refused():
    with pytest.raises(BadInput, match="not divisible into 7 blocks"):
        Sizes(3, 1, blocks=7)
    with pytest.raises(BadInput, match="odd"):
        Sizes(3, 1, bins=10)


def test_initial_kernels_have_the_standard_deviation_of_their_fan_in():
    plain = nets.init_linear(jax.random.key(0), 400, 100)["kernel"]
    assert float(plain.std()) == pytest.approx(1 / np.sqrt(400), rel=0.02)
    assert float(jnp.abs(plain).max()) <= 2 * 1.1368 / np.sqrt(400)
    # The fan-in of a block map is its total input width, although a block reads only its own part.
    block = nets.init_block_linear(jax.random.key(0), 8, 800, 800)["kernel"]
    assert block.shape == (8, 100, 100)
    assert float(block.std()) == pytest.approx(1 / np.sqrt(800), rel=0.02)


def test_heads_start_where_they_should():
    s = Sizes(19, 2)
    p = jax.jit(heads.init, static_argnums=1)(jax.random.key(1), s)
    feat = jax.random.normal(jax.random.key(2), (5, s.feature))
    assert (twohot.mean(heads.output(p["critic"], feat)) == 0).all()
    assert (twohot.mean(heads.output(p["reward"], feat)) == 0).all()
    policy = heads.act(p["actor"], feat)
    np.testing.assert_allclose(policy.mean, 0, atol=0.05)
    np.testing.assert_allclose(policy.std, 0.893, atol=0.01)


def test_symlog_and_its_inverse():
    x = jnp.array([-100.0, -1.0, 0.0, 0.5, np.e - 1])
    np.testing.assert_allclose(twohot.symlog(x), [-np.log(101), -np.log(2), 0, np.log(1.5), 1], rtol=1e-6)
    np.testing.assert_allclose(twohot.symexp(twohot.symlog(x)), x, rtol=1e-5)


def test_bins_are_symmetric_symexp_spaced_and_contain_zero():
    b = twohot.bins(255)
    assert len(b) == 255
    assert b[127] == 0
    np.testing.assert_array_equal(b, -b[::-1])
    np.testing.assert_allclose(b[-1], np.exp(20) - 1, rtol=1e-6)
    np.testing.assert_allclose(b[128], np.exp(20 / 127) - 1, rtol=1e-5)


def test_two_hot_splits_between_neighbours_in_raw_space():
    b = twohot.bins(255)
    target = 0.25 * b[130] + 0.75 * b[131]
    w = np.asarray(twohot.weights(jnp.array([target, 0.0, 1e12, -1e12, b[3]]), 255))
    np.testing.assert_allclose(w[0, 130:132], [0.25, 0.75], rtol=1e-4)
    np.testing.assert_allclose(w.sum(-1), 1, rtol=1e-6)
    assert w[1, 127] == 1
    assert w[2, 254] == 1
    assert w[3, 0] == 1
    assert w[4, 3] == 1
    assert (w[0] > 0).sum() == 2


def test_two_hot_loss_and_mean_by_hand():
    logits = jnp.log(jnp.array([0.1, 0.2, 0.4, 0.2, 0.1]))
    b = twohot.bins(5)
    target = 0.5 * b[3]
    assert float(twohot.cross_entropy(logits, target)) == pytest.approx(
        -0.5 * np.log(0.4) - 0.5 * np.log(0.2), rel=1e-5
    )
    skewed = jnp.log(jnp.array([1e-30, 1e-30, 0.25, 0.75, 1e-30]))
    assert float(twohot.mean(skewed)) == pytest.approx(0.75 * b[3], rel=1e-4)
    assert float(twohot.mean(jnp.full(255, 3.7))) == 0.0


def test_latent_probabilities_mix_in_one_percent_uniform():
    logits = jnp.array([0.0, 0.0, 0.0, 50.0, np.log(1.0), np.log(2.0), np.log(3.0), np.log(4.0)])
    p = np.stack(latents.probabilities(logits, 4, 0.01), -1)
    np.testing.assert_allclose(p[0], [0.0025, 0.0025, 0.0025, 0.9925], rtol=1e-5)
    np.testing.assert_allclose(p[1], 0.99 * np.array([0.1, 0.2, 0.3, 0.4]) + 0.0025, rtol=1e-5)


def test_latent_samples_follow_the_probabilities_and_the_mode_is_the_largest_logit():
    logits = jnp.log(jnp.array([0.1, 0.2, 0.3, 0.4]))
    n = 20_000
    uniform = jax.random.uniform(jax.random.key(0), (n, 1))
    z = latents.sample(jnp.tile(logits, (n, 1)), 4, 0.01, uniform)
    assert (z.sum(-1) == 1).all()
    np.testing.assert_allclose(z.mean(0), 0.99 * np.array([0.1, 0.2, 0.3, 0.4]) + 0.0025, atol=0.01)
    np.testing.assert_array_equal(latents.sample(logits, 4, 0.01, None), [0, 0, 0, 1])
    index = latents.to_index(z, 4)
    np.testing.assert_array_equal(latents.one_hot(index, 4, jnp.float32), z)


def test_latent_gradient_is_that_of_the_probabilities():
    logits = jnp.array([0.3, -0.2, 0.1, 0.5])
    weight = jnp.array([1.0, 2.0, -1.0, 0.5])
    through = jax.grad(lambda x: jnp.sum(weight * latents.sample(x, 4, 0.01, jnp.array([0.4]))))(logits)
    direct = jax.grad(lambda x: jnp.sum(weight * (0.99 * jax.nn.softmax(x) + 0.0025)))(logits)
    np.testing.assert_allclose(through, direct, rtol=1e-5)


def test_kl_is_summed_over_the_categoricals():
    p_logits, q_logits = jnp.log(jnp.array([0.5, 0.5, 0.9, 0.1])), jnp.log(jnp.array([0.5, 0.5, 0.2, 0.8]))
    p, q = 0.99 * 0.9 + 0.005, 0.99 * 0.2 + 0.005
    expected = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    assert float(latents.kl(p_logits, q_logits, 2, 0.01)) == pytest.approx(expected, rel=1e-5)
    entropy = np.log(2) - p * np.log(p) - (1 - p) * np.log(1 - p)
    assert float(latents.entropy(p_logits, 2, 0.01)) == pytest.approx(entropy, rel=1e-5)


def test_rms_norm_by_hand_and_in_low_precision():
    x = jnp.array([3.0, -4.0])
    np.testing.assert_allclose(
        nets.rms_norm(x, jnp.array([1.0, 2.0])), np.array([3, -8]) / np.sqrt(12.5 + 1e-4), rtol=1e-6
    )
    assert nets.rms_norm(x.astype(jnp.bfloat16), jnp.ones(2)).dtype == jnp.bfloat16


def test_block_products_equal_a_loop_over_blocks():
    kernel = jax.random.normal(jax.random.key(0), (3, 4, 5))
    x = jax.random.normal(jax.random.key(1), (7, 12))
    expected = np.concatenate([x[:, 4 * g : 4 * g + 4] @ kernel[g] for g in range(3)], -1)
    np.testing.assert_allclose(nets.grouped_matmul(x, kernel), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(x @ nets.block_diagonal(kernel), expected, rtol=1e-5, atol=1e-6)


def test_normal_density_and_entropy_by_hand():
    policy = heads.Normal(jnp.array([0.5, -0.5]), jnp.array([0.2, 1.0]))
    x = np.array([0.7, 2.0])
    expected = sum(
        -0.5 * ((a - m) / s) ** 2 - np.log(s * np.sqrt(2 * np.pi))
        for a, m, s in zip(x, (0.5, -0.5), (0.2, 1.0), strict=True)
    )
    assert float(policy.log_density(jnp.asarray(x))) == pytest.approx(expected, rel=1e-5)
    assert float(policy.entropy()) == pytest.approx(np.log(0.2) + np.log(2 * np.pi * np.e), rel=1e-5)
    np.testing.assert_allclose(policy.sample(jnp.array([1.0, -2.0])), [0.7, -2.5], rtol=1e-6)


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


def test_one_environment_makes_the_reference_number_of_updates():
    ratio, made = TrainRatio.of(Config(Sizes(19, 2))), []
    for step in range(1, 3000):
        made += [step] * ratio.due(step, step - 64)
    assert made[:3] == [1088, 1101, 1114]  # starts with one update, no catching up, then every 12.8 steps
    assert ratio.due(1_000_000, 999_936) + len(made) == 78_041


def test_many_environments_make_updates_in_the_same_proportion():
    ratio = TrainRatio.of(Config(Sizes(19, 2)))
    due = [ratio.due(32 * t, 32 * (t - 64)) for t in range(1, 1200)]
    assert due.index(1) == 95  # 96 steps of 32 environments are the first to hold 1,024 windows
    assert sum(due) == 1 + (32 * 1199 - 32 * 96) * 80 // 1024
    assert set(due[100:]) == {2, 3}


def test_every_fires_once_per_interval_even_when_steps_jump():
    every = Every(100)
    assert [every(s) for s in (0, 32, 64, 96, 128, 160, 400, 420)] == [
        True,
        False,
        False,
        False,
        True,
        False,
        True,
        False,
    ]
