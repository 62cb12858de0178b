"""Causal attention over the episode: against softmax over everything so far."""

import numpy as np

from blindsave.policies import arithmetic
from blindsave.policies.students.attention import BOUND, STEPS, Attention
from blindsave.policies.students.family import Family

CORE = Attention(3)
RNG = np.random.default_rng(1)
P = CORE.init(RNG, 0) | {"ago": RNG.normal(size=STEPS).astype(np.float32)}


def inputs(steps: int) -> tuple[np.ndarray, np.ndarray]:
    return RNG.normal(size=(steps, 32)).astype(np.float32), RNG.uniform(-1, 1, (steps, 2)).astype(np.float32)


def run(codes, actions) -> np.ndarray:
    memory, shown = np.zeros(CORE.memory, np.float32), []
    for code, action in zip(codes, actions, strict=True):
        memory = CORE.advance(arithmetic, P, memory, CORE.drive(arithmetic, P, code, action))
        shown.append(memory[: CORE.shown])
    return np.array(shown)


def test_what_is_shown_is_softmax_over_all_steps_so_far():
    codes, actions = inputs(7)
    new = np.concatenate([codes, actions], axis=1).astype(float) @ P["W"].T + P["b"]
    query, key, value = new[:, :3], new[:, 3:6], new[:, 6:]
    for t, found in enumerate(run(codes, actions)):
        score = key[: t + 1] @ query[t] / np.sqrt(3) + P["ago"][STEPS - 1 - t :]
        weight = np.exp(BOUND * np.tanh(score / BOUND))
        weight /= weight.sum()
        np.testing.assert_allclose(found, weight @ value[: t + 1], atol=1e-5)


def test_scores_of_any_size_stay_finite():
    codes, actions = inputs(5)
    with np.errstate(all="raise"):
        assert np.isfinite(run(1e4 * codes, actions)).all()


def test_the_first_step_is_still_there_at_the_end_of_the_longest_episode():
    codes, actions = inputs(STEPS)
    other = codes.copy()
    other[0] += 1.0
    assert np.abs(run(codes, actions)[-1] - run(other, actions)[-1]).max() > 1e-5


def test_the_head_reads_what_was_attended_to_and_not_the_record():
    family = Family("attention_n3", CORE)
    assert family.features == 32 + 3
    assert family.shapes["head.0.weight"] == (64, 35)
    assert family.carry == CORE.memory + 2
