"""When updates are due."""

from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.learning.dreamer.schedule import Every, TrainRatio


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
