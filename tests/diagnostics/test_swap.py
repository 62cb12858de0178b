"""Exchanged memories: they reach the twin and nobody else, and a policy that keeps nothing does not notice."""

from dataclasses import replace

import numpy as np
import pytest
from studies import TERMINATED_MODELS

from blindsave.diagnostics import swap
from blindsave.errors import BadInput
from blindsave.policies import NamedPolicy, closed_loop, resolve
from blindsave.policies.catalog import MODELS_VARIABLE
from blindsave.policies.students.student import Student
from blindsave.task.conditions import grid

MALLET_Y, PUCK_Y, VISIBLE = 15, 17, 18
BLACKOUT = 20


class Side:
    """Remembers from which side the puck came at first and asks for that side ever after."""

    name = "side"

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, observation):
        fresh = (carry[:, 0] == 0) & (observation[:, VISIBLE] == 1)
        carry = np.where(fresh[:, None], np.sign(observation[:, [PUCK_Y]]), carry).astype(np.float32)
        return carry, np.concatenate([np.zeros_like(carry), carry], axis=1)


class Reader:
    """Goes to the side of the puck while it can be seen, then to the side on which it sees its own mallet."""

    name = "reader"

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, observation):
        seen = np.where(observation[:, VISIBLE] == 1, observation[:, PUCK_Y], observation[:, MALLET_Y])
        return carry, np.stack([np.zeros_like(seen), np.sign(seen)], axis=1)


@pytest.fixture(scope="module")
def episodes():
    return grid(swap.twins("test", 3), (BLACKOUT,))


def test_twins_lie_side_by_side_and_go_to_opposite_posts():
    found = swap.twins("test")
    assert len(found) == 180
    for one, other in zip(found[::2], found[1::2], strict=True):
        assert one.alias_family == other.alias_family
        assert {one.target_region, other.target_region} == {"near_post_left", "near_post_right"}
    assert swap.twins("test", 2) == found[:4]


def test_undisturbed_twins_are_ordinary_episodes(episodes):
    student = Student.untrained("structured_k0", 0)
    played, ordinary = swap.play(student, episodes, "exchange", None), closed_loop.run(student, episodes, record=True)
    assert (played.saved == ordinary.saved).all()
    assert (played.steps == ordinary.steps).all()
    assert (played.actions == ordinary.actions).all()


def test_from_the_exchange_on_everyone_asks_for_what_its_twin_remembers(episodes):
    before, after = (swap.play(Side(), episodes, "exchange", step) for step in (None, 9))
    sides = before.actions[:, 0, 1]
    assert (sides[::2] == -sides[1::2]).all()
    assert (after.actions[:, :9, 1] == sides[:, None]).all()
    assert (after.actions[:, 9:20, 1] == -sides[:, None]).all()


def test_erased_memories_are_fresh_ones(episodes):
    after = swap.play(Side(), episodes, "erase", 9)
    assert (np.abs(after.actions[:, :9, 1]) == 1).all()
    assert (after.actions[:, 9:20] == 0).all()  # hidden: there is nothing to remember


@pytest.mark.parametrize("how", ["exchange", "erase"])
def test_a_policy_that_keeps_nothing_does_not_notice(episodes, how):
    student = Student.untrained("feed_forward", 0)
    before, after = (swap.play(student, episodes, how, step) for step in (None, 9))
    assert (before.actions == after.actions).all() and (before.saved == after.saved).all()


def test_who_remembers_does_not_look_at_the_arm_it_is_shown(episodes):
    before, after = (swap.play(Side(), episodes, "arm", step) for step in (None, 9))
    assert (before.actions == after.actions).all()


def test_who_reads_its_arm_follows_the_one_it_is_shown():
    moving = grid(swap.twins("test", 3), (BLACKOUT,))
    moving = [replace(episode, locked_steps=0) for episode in moving]  # the arm moves while the puck is seen
    before, after = (swap.play(Reader(), moving, "arm", step) for step in (None, 12))
    assert (before.actions[:, 12, 1] == -before.actions[np.arange(6) ^ 1, 12, 1]).all()
    assert (after.actions[:, :12] == before.actions[:, :12]).all()
    assert (after.actions[:, 12, 1] == -before.actions[:, 12, 1]).all()


def test_an_arm_that_is_sent_away_ends_on_its_twins_side(episodes):
    before = swap.play(Side(), episodes, "leave", None)
    after = swap.play(Side(), episodes, "leave", 9, undisturbed=before)
    assert (after.actions[:, :9] == before.actions[:, :9]).all()
    assert (np.sign(after.actions[:, 9, 1]) == np.sign(before.places[np.arange(len(episodes)) ^ 1, 1])).all()
    assert (np.abs(after.actions[:, 9, 1]) == 1).all()
    assert (np.sign(after.places[:, 1]) == -np.sign(before.places[:, 1])).all()


def test_an_arm_that_is_held_is_the_same_for_both_twins(episodes):
    before, after = (swap.play(Side(), episodes, "hold", step) for step in (None, 15))
    assert (after.actions[:, :20] == before.actions[:, :20]).all()  # the policy asks for the same
    longer = [replace(episode, locked_steps=15) for episode in episodes]
    held = closed_loop.run(Side(), longer, record=True)
    assert (after.saved == held.saved).all() and (after.steps == held.steps).all()
    assert (held.obs[::2, 15, :16] == held.obs[1::2, 15, :16]).all()  # the arm does not know which twin it is


def test_held_arms_leave_it_to_the_network(monkeypatch):
    monkeypatch.setenv(MODELS_VARIABLE, str(TERMINATED_MODELS))  # whose students do so
    options = {"steps": (5, 11), "pairs": 8, "replicates": 10, "how": "hold"}
    linear, window = (swap.swaps(n, [resolve(f"{n}/14303")], **options) for n in ("structured_k0", "finite_stack_10"))
    assert [one.saves for one in linear[:2]] == [one.saves for one in window[:2]] == [16, 16]
    assert linear[2].saves - window[2].saves > 4


def test_a_real_memory_decides_when_the_puck_disappears_and_the_arm_decides_later(monkeypatch):
    monkeypatch.setenv(MODELS_VARIABLE, str(TERMINATED_MODELS))
    policies = [resolve("structured_k0/14303")]
    never, at_once, late = swap.swaps("k0", policies, steps=(5, 19), pairs=6, replicates=100)
    assert (never.step, never.saves) == (None, 12)
    assert (at_once.saves, late.saves) == (0, 12)
    assert never.rate.low == never.rate.high == 1.0
    leaving = swap.swaps("k0", policies, steps=(5, 19), pairs=6, replicates=100, how="leave")
    assert leaving[1].saves == 0


def test_results_do_not_depend_on_threads():
    policies = [NamedPolicy("gru_n64", seed, Student.untrained("gru_n64", seed), "") for seed in (0, 1)]
    one, two = (swap.swaps("gru", policies, steps=(7,), pairs=3, replicates=50, threads=n) for n in (1, 2))
    assert one == two
    assert one[0].training_seeds == (0, 1) and one[0].shots == 6


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda e: swap.play(Side(), e, "forget", 9), "forget"),
        (lambda e: swap.play(Side(), e[:3], "exchange", 9), "pairs"),
        (lambda e: swap.play(Side(), e, "arm", -3), "not -3"),
        (lambda e: swap.play(Side(), e, "leave", 9), "undisturbed"),
        (lambda e: swap.swaps("side", [(0, Side())], steps=(125,)), "125"),
        (lambda e: swap.swaps("side", [(0, Side())], split="nowhere"), "nowhere"),
    ],
)
def test_bad_input_is_named(episodes, call, word):
    with pytest.raises(BadInput, match=word):
        call(episodes)
