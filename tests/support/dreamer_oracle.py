"""The agent's objective written a second time, as slowly and literally as possible: the oracle of the fast one.

Shares no code with the package: one time step, one block, one formula at a time.
"""

import jax
import jax.numpy as jnp
import numpy as np

stop = jax.lax.stop_gradient


def norm(x, scale):
    return scale * x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-4)


def silu(x):
    return x / (1 + jnp.exp(-x))


def sigmoid(x):
    return 1 / (1 + jnp.exp(-x))


def layer(p, x):
    return silu(norm(x @ p["kernel"] + p["bias"], p["scale"]))


def body(p, x, layers):
    for i in range(layers):
        x = layer(p[f"layer{i}"], x)
    return x


def head(p, x, layers):
    return body(p, x, layers) @ p["out"]["kernel"] + p["out"]["bias"]


def symlog(x):
    return jnp.sign(x) * jnp.log(1 + jnp.abs(x))


def gru(p, s, h, z, a):
    a = a / stop(jnp.maximum(1, jnp.abs(a)))
    shared = [layer(p["deter_in"], h), layer(p["latent_in"], z), layer(p["action_in"], a)]
    hidden = []
    for g in range(s.blocks):
        own = h[:, g * s.block : (g + 1) * s.block]
        hidden.append(jnp.concatenate([own, *shared], -1) @ p["hidden"]["kernel"][g])
    u = silu(norm(jnp.concatenate(hidden, -1) + p["hidden"]["bias"], p["hidden"]["scale"]))
    new = []
    for g in range(s.blocks):
        part = slice(g * s.block, (g + 1) * s.block)
        gates = u[:, part] @ p["gates"]["kernel"][g]
        gates = gates + p["gates"]["bias"][g * 3 * s.block : (g + 1) * 3 * s.block]
        reset, candidate, update = jnp.split(gates, 3, -1)
        c = jnp.tanh(sigmoid(reset) * candidate)
        k = sigmoid(update - 1)
        new.append(k * c + (1 - k) * h[:, part])
    return jnp.concatenate(new, -1)


def probabilities(logits, s):
    p = jax.nn.softmax(logits.reshape(*logits.shape[:-1], s.categoricals, s.classes), -1)
    return 0.99 * p + 0.01 / s.classes


def draw(logits, s, uniform):
    p = probabilities(logits, s)
    index = jnp.sum(uniform[..., None] >= jnp.cumsum(p, -1)[..., :-1], -1)
    one_hot = jax.nn.one_hot(index, s.classes) + p - stop(p)
    return one_hot.reshape(logits.shape)


def kl(post, prior, s):
    p, q = probabilities(post, s), probabilities(prior, s)
    return jnp.sum(p * (jnp.log(p) - jnp.log(q)), (-1, -2))


def bins(n):
    half = np.linspace(-20, 0, (n + 1) // 2)
    half = np.sign(half) * (np.exp(np.abs(half)) - 1)
    return np.concatenate([half, -half[:-1][::-1]])


def two_hot_loss(logits, target):
    b = jnp.asarray(bins(logits.shape[-1]), jnp.float32)
    t = jnp.clip(target, b[0], b[-1])
    below = jnp.clip(jnp.searchsorted(b, t, side="right") - 1, 0, len(b) - 2)
    share = (t - b[below]) / (b[below + 1] - b[below])
    target = (1 - share)[..., None] * jax.nn.one_hot(below, len(b))
    target += share[..., None] * jax.nn.one_hot(below + 1, len(b))
    return -jnp.sum(target * jax.nn.log_softmax(logits, -1), -1)


def two_hot_mean(logits):
    b = jnp.asarray(bins(logits.shape[-1]), jnp.float32)
    p = jax.nn.softmax(logits, -1)
    m = len(b) // 2
    return p[..., m] * b[m] + jnp.sum((p * b)[..., :m][..., ::-1] + (p * b)[..., m + 1 :], -1)


def actor(p, x, layers):
    x = body(p, x, layers)
    mean = jnp.tanh(x @ p["mean"]["kernel"] + p["mean"]["bias"])
    return mean, 0.1 + 0.9 * sigmoid(x @ p["std"]["kernel"] + p["std"]["bias"] + 2)


def losses(params, slow, low_high, batch, uniform, dream_noise, dream_uniform, config):
    """Return the eight weighted-in loss terms (means) and the new (low, high) of returns."""
    s, c = config.sizes, config.learning
    d = params["dynamics"]
    T, B = batch.first.shape
    h, z = jnp.asarray(batch.h, jnp.float32), jnp.asarray(batch.z, jnp.float32)
    hs, zs, posts = [], [], []
    for t in range(T):
        keep = 1.0 - batch.first[t][:, None].astype(jnp.float32)
        h = gru(d, s, h * keep, z * keep, batch.previous_action[t] * keep)
        token = body(params["encoder"], symlog(batch.observation[t]), s.encoder_layers)
        hidden = layer(d["posterior"]["layer0"], jnp.concatenate([h, token], -1))
        logits = hidden @ d["posterior"]["out"]["kernel"] + d["posterior"]["out"]["bias"]
        z = draw(logits, s, uniform[t])
        hs.append(h)
        zs.append(z)
        posts.append(logits)
    hs, zs, posts = jnp.stack(hs), jnp.stack(zs), jnp.stack(posts)
    priors = head(d["prior"], hs, s.prior_layers)
    feat = jnp.concatenate([hs, zs], -1)
    decoded = head(params["decoder"], jnp.concatenate([zs, hs], -1), s.decoder_layers)
    cont = sigmoid(head(params["continue"], feat, s.continue_layers)[..., 0])
    alive = (1 - batch.terminal.astype(jnp.float32)) * (1 - 1 / c.horizon)
    out = {
        "observation": jnp.sum((decoded - symlog(batch.observation)) ** 2, -1).mean(),
        "reward": two_hot_loss(head(params["reward"], feat, s.reward_layers), batch.reward).mean(),
        "continue": -(alive * jnp.log(cont) + (1 - alive) * jnp.log(1 - cont)).mean(),
        "dynamics": jnp.maximum(1.0, kl(stop(posts), priors, s)).mean(),
        "representation": jnp.maximum(1.0, kl(posts, stop(priors), s)).mean(),
    }
    fixed = stop(params)
    h, z = stop(hs).reshape(T * B, -1), stop(zs).reshape(T * B, -1)
    feats, actions = [], []
    for i in range(c.imagination):
        f = jnp.concatenate([h, z], -1)
        mean, std = actor(fixed["actor"], f, s.actor_layers)
        a = mean + std * dream_noise[i]
        h = gru(fixed["dynamics"], s, h, z, a)
        z = draw(head(fixed["dynamics"]["prior"], h, s.prior_layers), s, dream_uniform[i])
        feats.append(f)
        actions.append(a)
    feats = stop(jnp.stack([*feats, jnp.concatenate([h, z], -1)]))
    actions = stop(jnp.stack(actions))
    r = stop(two_hot_mean(head(params["reward"], feats, s.reward_layers)))
    k = stop(sigmoid(head(params["continue"], feats, s.continue_layers)[..., 0]))
    logits = head(params["critic"], feats, s.critic_layers)
    v = stop(two_hot_mean(logits))
    H = c.imagination
    R = [None] * H + [v[H]]
    for i in reversed(range(H)):
        R[i] = r[i + 1] + k[i + 1] * ((1 - c.lam) * v[i + 1] + c.lam * R[i + 1])
    R = jnp.stack(R[:H])
    low = 0.99 * low_high[0] + 0.01 * jnp.percentile(R, 5)
    high = 0.99 * low_high[1] + 0.01 * jnp.percentile(R, 95)
    scale = jnp.maximum(1.0, high - low)
    weight, w = [], 1.0
    for i in range(H):
        w = w * k[i]
        weight.append(w)
    weight = jnp.stack(weight)
    mean, std = actor(params["actor"], feats[:H], s.actor_layers)
    log_density = jnp.sum(-0.5 * ((actions - mean) / std) ** 2 - jnp.log(std * jnp.sqrt(2 * jnp.pi)), -1)
    entropy = jnp.sum(0.5 * jnp.log(2 * jnp.pi * jnp.e * std**2), -1)
    advantage = (R - v[:H]) / scale
    out["actor"] = -(weight * (advantage * log_density + c.entropy * entropy)).mean()
    slow_mean = stop(two_hot_mean(head(slow, feats, s.critic_layers)))
    critic = two_hot_loss(logits[:H], R) + two_hot_loss(logits[:H], slow_mean[:H])
    out["critic"] = (weight * critic).mean()
    b = R[0].reshape(T, B)
    back = [None] * (T - 1) + [b[T - 1]]
    gamma = 1 - 1 / c.horizon
    last, term = batch.last.astype(jnp.float32), batch.terminal.astype(jnp.float32)
    for t in reversed(range(T - 1)):
        go_on = c.lam * (1 - last[t + 1])
        back[t] = batch.reward[t + 1] + gamma * (1 - term[t + 1]) * ((1 - go_on) * b[t + 1] + go_on * back[t + 1])
    back = jnp.stack(back[: T - 1])
    real = head(params["critic"], feat[:-1], s.critic_layers)
    slow_real = stop(two_hot_mean(head(slow, feat[:-1], s.critic_layers)))
    replay = two_hot_loss(real, stop(back)) + two_hot_loss(real, slow_real)
    out["replay_critic"] = ((1 - last[:-1]) * replay).mean()
    return out, (low, high)


WEIGHTS = {
    "observation": 1.0,
    "reward": 1.0,
    "continue": 1.0,
    "dynamics": 1.0,
    "representation": 0.1,
    "actor": 1.0,
    "critic": 1.0,
    "replay_critic": 0.3,
}


def laprop(steps, gradients_of, theta, lr=4e-5, warmup=1000):
    """Return one tensor after LaProp with adaptive clipping, in NumPy float64."""
    mu = nu = np.zeros_like(theta)
    for n in range(1, steps + 1):
        g = gradients_of(n)
        g = g / max(1.0, np.linalg.norm(g) / (0.3 * max(1e-3, np.linalg.norm(theta))))
        nu = 0.999 * nu + 0.001 * g * g
        mu = 0.9 * mu + 0.1 * g / (np.sqrt(nu / (1 - 0.999**n)) + 1e-20)
        theta = theta - lr * min(1.0, (n - 1) / warmup) * mu / (1 - 0.9**n)
    return theta
