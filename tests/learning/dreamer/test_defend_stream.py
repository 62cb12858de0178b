"""The stream of the defence task that the agent trains on."""

import numpy as np

from blindsave.learning.dreamer.defend_stream import DefendStream, group_of
from blindsave.task.conditions import grid
from blindsave.task.shots import shots


def play(stream, steps, seed=0):
    """Return what a stream shows under random, partly unclipped actions."""
    rng = np.random.default_rng(seed)
    return [stream.step(rng.normal(size=(stream.n, 2)).astype(np.float32) * 1.5) for _ in range(steps)]


def test_an_episode_of_k_actions_is_k_plus_one_transitions():
    stream = DefendStream(3)
    seen = [stream.reset(), *play(stream, 150)]
    first, last = np.stack([s.first for s in seen]), np.stack([s.last for s in seen])
    terminal, reward = np.stack([s.terminal for s in seen]), np.stack([s.reward for s in seen])
    assert first[0].all()
    np.testing.assert_array_equal(first[1:], last[:-1])  # the step after an end is a reset, and nothing else is
    assert (last | ~terminal).all()
    assert (reward[first] == 0).all()
    assert last.sum() >= 3
    assert set(np.round(np.unique(reward), 3)) <= {np.float32(x).round(3) for x in (-1, -0.8, 0, 0.2, 1, 1.2)}
    obs = np.stack([s.observation for s in seen])
    assert obs.dtype == np.float32
    assert (obs[first][:, 18] == 1).all()


def test_finished_episodes_are_reported_once_with_their_blackout_group():
    stream = DefendStream(4)
    stream.reset()
    ends, reports = 0, []
    for seen in (stream.step(np.zeros((4, 2), np.float32)) for _ in range(120)):
        ends += int(seen.last.sum())
        reports += stream.finished()
    assert ends == len(reports) > 0
    assert {r.group for r in reports} <= {"0", "1-5", "6-10", "11-15", "16-20"}
    assert {v for r in reports for v in r.figures.values()} <= {0.0, 1.0}
    assert [group_of(x) for x in (0, 1, 5, 6, 20)] == ["0", "1-5", "1-5", "6-10", "16-20"]


def test_draws_are_shot_then_length_from_one_generator_in_order_of_environment():
    stream = DefendStream(2)
    seen = [stream.reset(), *play(stream, 40)]
    rng = np.random.default_rng(5303)
    train = shots("train")
    expected = [(train[int(rng.integers(0, 900))], int(rng.integers(0, 21))) for _ in range(2)]
    hidden = np.stack([s.observation[:, 18] == 0 for s in seen])
    for place, (shot, length) in enumerate(expected):
        end = next((t for t, s in enumerate(seen) if s.last[place]), len(seen))
        assert hidden[: end + 1, place].sum() == min(length, end + 1 - 5)
        alone = DefendStream(1)
        alone._next_episode = lambda _, shot=shot, length=length: grid([shot], [length])[0]
        np.testing.assert_array_equal(alone.reset().observation[0], seen[0].observation[place])


def test_a_saved_stream_continues_exactly():
    stream = DefendStream(3)
    stream.reset()
    play(stream, 30)
    state = {name: np.array(value) for name, value in stream.save().items()}
    expected = play(stream, 60, seed=1)
    other = DefendStream(3, seed=1)
    other.reset()
    other.restore(state)
    for a, b in zip(play(other, 60, seed=1), expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


def test_a_teacher_can_be_trained_under_conditions():
    noisy, clean = (DefendStream(4, threads=1, conditions=names) for names in ("noise_5mm", "clean"))
    seen = [stream.reset().observation for stream in (noisy, clean)]
    assert not np.array_equal(seen[0][:, 16:18], seen[1][:, 16:18])
    again = DefendStream(4, threads=1, conditions="noise_5mm").reset().observation
    assert np.array_equal(seen[0], again)
