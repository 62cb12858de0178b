from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil import adamw
from blindsave.learning.distil.dataset import concatenate
from blindsave.learning.distil.execution import execution_for
from blindsave.learning.distil.jax_ops import JaxOps
from blindsave.learning.distil.layout import batches, envelope, make_layout
from blindsave.learning.distil.model import batch_loss, make_table
from blindsave.learning.distil.state import fresh_state
from blindsave.learning.distil.table import encoder_inputs
from blindsave.policies.students import Family, family
from blindsave.policies.students.structured import Structured
from blindsave.testing.training import mean_error, random_episodes, step_by_step

pytestmark = pytest.mark.usefixtures("quick_compilation")

CHUNK = 8
LENGTHS = [5, 19, 8, 16, 3, 12]
SMALL = Family("small", Structured(rank=1, width=6))


def loss_of(kind, data, params, chunk=CHUNK, segment=8, **execution):
    order = batches(np.arange(len(data)), data.steps.astype(np.int64), len(data))
    layout = make_layout(envelope([order], data.steps.astype(np.int64)), chunk, segment, multiple=2)
    chosen = execution_for(kind, "cpu", **execution)
    total, count = batch_loss(kind, params, make_table(kind, data), layout, jnp.asarray(order[0]), chunk, chosen)
    return total / count


def plain_loss(kind, data, params):
    """The definition: the students' own steps over every episode, then a mean per episode."""
    return mean_error(data, step_by_step(JaxOps, kind, params, data, chunk=max(LENGTHS)), np.arange(len(data)))


@pytest.fixture(scope="module")
def data():
    return random_episodes(LENGTHS)


@pytest.mark.parametrize("kind", [SMALL, family("feed_forward"), family("finite_stack_10")], ids=lambda k: k.name)
def test_the_loss_is_the_mean_over_episodes_of_their_mean_squared_error(kind, data):
    """Also: the memory carried over two chunk boundaries equals one pass over the whole sequence in value."""
    params = kind.init(1)
    ours, plain = (jax.jit(partial(f, kind, data))(params) for f in (loss_of, plain_loss))
    np.testing.assert_allclose(ours, plain, rtol=2e-6)


def test_gradients_stop_at_the_chunk_boundary_and_only_there(data):
    params = SMALL.init(1)

    def gradients(p):
        uncut = jax.grad(lambda p: loss_of(SMALL, data, p, chunk=64, segment=64))(p)
        return jax.grad(partial(plain_loss, SMALL, data))(p), uncut, jax.grad(partial(loss_of, SMALL, data))(p)

    whole, uncut, cut = jax.jit(gradients)(params)
    for name in whole:
        np.testing.assert_allclose(uncut[name], whole[name], rtol=1e-4, atol=1e-7)
    assert np.abs(cut["core.alpha"] - whole["core.alpha"]).max() > 1e-5


def test_the_associative_scan_gives_the_same_loss_and_gradient(data):
    kind = Family("linear", Structured(rank=0, width=6))
    params = kind.init(1)
    results = [
        jax.jit(jax.value_and_grad(partial(loss_of, kind, data, scan=scan)))(params)
        for scan in ("sequential", "associative")
    ]
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    for name in params:
        np.testing.assert_allclose(results[0][1][name], results[1][1][name], rtol=1e-3, atol=1e-6)


def test_a_misspelt_engine_option_is_named():
    with pytest.raises(BadInput, match="no `unrol`"):
        execution_for(SMALL, unrol=4)


def test_an_episode_weighs_the_same_however_long_it_is():
    kind = family("feed_forward")
    params = kind.init(1)
    one, other = random_episodes([7], seed=1), random_episodes([9], first_index=1, seed=2)
    doubled = random_episodes([14], seed=1)
    for name in ("obs", "action", "label"):
        getattr(doubled, name)[:] = np.concatenate([getattr(one, name)] * 2)
    before, after = (jax.jit(partial(loss_of, kind, concatenate([x, other])))(params) for x in (one, doubled))
    np.testing.assert_allclose(before, after, rtol=1e-6)


def test_padding_contributes_nothing(data):
    """Rows beyond an episode's end, missing episodes and finer or coarser layouts change neither loss nor gradient."""
    kind, steps = SMALL, data.steps.astype(np.int64)
    params, table = kind.init(1), make_table(SMALL, data)

    def value_and_gradient(order, segment, longest):
        layout = make_layout(longest, CHUNK, segment, multiple=1)

        def loss(p):
            total, count = batch_loss(kind, p, table, layout, jnp.asarray(order), CHUNK, execution_for(kind, "cpu"))
            return total / count

        return jax.jit(jax.value_and_grad(loss))(params)

    tight = batches(np.arange(6), steps, 6)[0]
    loose = np.concatenate([tight, [-1, -1, -1]]).astype(np.int32)
    a, da = value_and_gradient(tight, 8, steps[tight])
    b, db = value_and_gradient(loose, 16, np.full(9, 24))
    np.testing.assert_allclose(a, b, rtol=1e-6)
    for name in da:
        np.testing.assert_allclose(da[name], db[name], rtol=1e-4, atol=1e-7)


def test_the_stack_of_a_new_episode_starts_empty(data):
    kind = family("finite_stack_10")
    inputs = encoder_inputs(kind, data)
    first = inputs[data.offsets[1]]
    assert not first[16:43].any()
    np.testing.assert_array_equal(first[43:], data.obs[data.offsets[1], 16:])
    np.testing.assert_array_equal(inputs[data.offsets[1] + 1, 40:43], data.obs[data.offsets[1], 16:])


def test_groups_of_episodes_with_equal_indices_are_refused(data):
    with pytest.raises(BadInput, match="share an episode index"):
        concatenate([data, data])


def test_previous_actions_are_the_requested_ones_shifted_by_one(data):
    for i in range(len(data)):
        rows = data.rows(i)
        assert not data.previous[rows][0].any()
        np.testing.assert_array_equal(data.previous[rows][1:], data.action[rows][:-1])


def test_adamw_takes_the_step_of_its_formula():
    params, gradients = {"w": np.float32([1.0, -2.0])}, {"w": np.float32([0.5, -0.1])}
    update = jax.jit(partial(adamw.update, learning_rate=0.1, weight_decay=0.01))
    moments = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), fresh_state([params]).moments)
    m = v = np.zeros(2)
    w = np.array([1.0, -2.0])
    for t in (1, 2, 3):
        params, moments = update(params, gradients, moments)
        g = np.array([0.5, -0.1])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w * (1 - 0.1 * 0.01) - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(params["w"], w, rtol=1e-5)


def test_clipping_scales_all_gradients_by_one_factor():
    gradients = {"a": jnp.array([3.0]), "b": jnp.array([0.0, 4.0])}
    clipped, norm = adamw.clip(gradients, 1.0)
    assert float(norm) == 5.0
    np.testing.assert_allclose(clipped["a"], [0.6], rtol=1e-6)
    np.testing.assert_allclose(clipped["b"], [0.0, 0.8], rtol=1e-6)
    small, _ = adamw.clip({"a": jnp.array([0.3])}, 1.0)
    np.testing.assert_allclose(small["a"], [0.3])
