import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies.closed_loop import ClosedLoop, run
from blindsave.policies.scripted import INACTIVE, PRIVILEGED
from blindsave.policies.students.student import Student
from blindsave.task.conditions import condition, grid
from blindsave.task.outcomes import Outcome
from blindsave.task.results import EpisodeResults
from blindsave.task.shots import shots
from blindsave.task.tracking import OBSERVATIONS

EPISODES = grid(shots("validation")[:6], (0, 20)) + grid(shots("calibration")[:4], (10,), condition("noise_5mm"))


class Counter:
    """Remembers how many steps its episode has taken, and drifts sideways with it."""

    name = "counter"

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, observation):
        carry = carry + 1
        return carry, np.concatenate([observation[:, 14:15], np.sin(carry)], axis=1).astype(np.float32)


class WithoutKernel:
    """A student, stepped from Python only."""

    def __init__(self, student):
        self.name, self.initial, self.step = student.name, student.initial, student.step


class Broken:
    """Asks for nonsense from a given step on."""

    name = "broken"

    def __init__(self, first):
        self.first = first

    def initial(self, n):
        return np.zeros((n, 1), np.float32)

    def step(self, carry, observation):
        actions = np.where(carry >= self.first, np.nan, observation[:, 14:16])
        return carry + 1, actions.astype(np.float32)


def assert_identical(a: EpisodeResults, b: EpisodeResults) -> None:
    for name in ("outcome", "steps", "first_contact", "reward", "obs", "actions", "truth"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name


@pytest.mark.parametrize("policy", [Counter(), PRIVILEGED, WithoutKernel(Student.untrained("gru_n64", 1))])
def test_results_do_not_depend_on_places_threads_or_order(policy):
    expected = run(policy, EPISODES, places=1, threads=1, record=True)
    assert_identical(run(policy, EPISODES, places=5, threads=2, record=True), expected)
    assert_identical(run(policy, EPISODES, record=True), expected)
    backwards = run(policy, EPISODES[::-1], places=4, record=True)
    assert np.array_equal(backwards.reward[::-1], expected.reward)
    assert np.array_equal(backwards.obs[::-1], expected.obs)


@pytest.mark.parametrize("family", ["structured_k2", "gru_n64", "finite_stack_10"])
def test_whole_native_episodes_equal_steps_from_python(family):
    student = Student.untrained(family, 3)
    assert student.native is not None, "the tests insist on the compiled kernel"
    assert_identical(
        run(student, EPISODES, record=True, threads=2), run(WithoutKernel(student), EPISODES, record=True, places=3)
    )


def test_recording_holds_what_was_seen_and_asked_and_nothing_after_the_end():
    results = run(Counter(), EPISODES, record=True)
    for i, episode in enumerate(EPISODES):
        steps = results.steps[i]
        t = np.arange(OBSERVATIONS)
        assert np.array_equal(results.visible[i], episode.tracking.visible & (t <= steps))
        np.testing.assert_allclose(results.actions[i, :steps, 1], np.sin(np.arange(1, steps + 1)), atol=1e-6)
        assert not results.actions[i, steps:].any()
        assert not results.obs[i, steps + 1 :].any()
        assert results.truth[i, steps].any()
        assert results.truth[i, 0, 0] == pytest.approx(episode.shot.x + 1.51)


def test_recording_changes_nothing():
    plain, recorded = run(INACTIVE, EPISODES), run(INACTIVE, EPISODES, record=True)
    assert plain.obs is None
    assert np.array_equal(plain.outcome, recorded.outcome)
    with pytest.raises(BadInput, match="recorded"):
        _ = plain.visible


def test_every_episode_ends_and_is_counted_once():
    told = []
    results = run(INACTIVE, EPISODES, places=3, progress=told.append)
    assert sum(told) == len(EPISODES) == len(results)
    assert (results.outcome > 0).all()
    assert np.array_equal(results.saved, [Outcome[label.upper()].saved for label in results.labels])


def test_knowing_everything_saves_what_doing_nothing_concedes():
    episodes = grid(shots("validation")[:20], (0,))
    assert run(PRIVILEGED, episodes).saved.mean() > 0.9
    assert run(INACTIVE, episodes).saved.mean() < 0.2


@pytest.mark.parametrize(("first", "ends_at"), [(0, 5), (8, 8)])
def test_a_broken_policy_loses_its_episode_and_nobody_elses(first, ends_at):
    results = run(Broken(first), EPISODES[:3], record=True)
    assert results.labels == ["non_finite_state"] * 3
    assert results.steps.tolist() == [ends_at] * 3
    assert not results.saved.any()


def test_reference_backend_gives_the_same_results():
    episodes = EPISODES[1:2]
    fast, slow = (run(PRIVILEGED, episodes, record=True, backend=backend) for backend in ("native", "reference"))
    assert fast.labels == slow.labels
    np.testing.assert_allclose(fast.obs, slow.obs, atol=1e-6)


class Agent:
    """Carries what no array could, and wants to be asked about all places at every step."""

    name, whole_batch = "agent", True

    def initial(self, n):
        return {"rows": n, "steps": 0}

    def step(self, carry, observation):
        assert len(observation) == carry["rows"], "always the same number of rows"
        return {**carry, "steps": carry["steps"] + 1}, observation[:, 14:16]


def test_an_agent_of_one_shape_is_asked_about_all_places_and_moves_the_running_ones():
    loop, expected = ClosedLoop(Agent(), EPISODES), run(INACTIVE, EPISODES)
    while len(loop.running):
        loop.act(loop.ask())
    assert loop.carry["steps"] == expected.steps.max()
    assert np.array_equal(loop.batch.outcome, expected.outcome)


def test_between_question_and_action_anybody_may_look_and_meddle():
    policy, expected = Counter(), run(INACTIVE, EPISODES, record=True)
    loop = ClosedLoop(policy, EPISODES)
    while len(live := loop.running):
        seen = loop.batch.obs[live].copy()
        loop.ask(live)
        assert np.array_equal(seen, loop.batch.obs[live]), "asking moves nothing"
        assert np.array_equal(loop.carry[live, 0], loop.batch.steps[live] + 1)
        loop.act(seen[:, 14:16], live)
    assert np.array_equal(loop.batch.score, expected.reward)
    assert np.array_equal(loop.carry[:, 0], expected.steps), "ended episodes keep the carry of their end"


def test_no_episodes_give_empty_results():
    assert len(run(INACTIVE, [])) == 0


def test_wrong_policies_and_places_are_refused():
    class Flat(Counter):
        def step(self, carry, observation):
            return carry, np.zeros(2, np.float32)

    with pytest.raises(BadInput, match="counter must give actions of shape"):
        run(Flat(), EPISODES[:3])
    with pytest.raises(BadInput, match="places"):
        run(INACTIVE, EPISODES, places=0)
