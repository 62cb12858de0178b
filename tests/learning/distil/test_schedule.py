import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil.schedule import (
    TRAINING_SEEDS,
    CollectionSchedule,
    base_schedule,
    draw,
    episodes,
    shadow_schedules,
)
from blindsave.task.shots import shots


@pytest.fixture(scope="module")
def base():
    return draw(base_schedule())


def named(drawn, count):
    train = shots("train")
    return [
        (train[s].id.removeprefix("direct_launch_v3:train:"), int(b))
        for s, b in zip(drawn.shot[:count], drawn.blackout[:count], strict=True)
    ]


def test_the_first_five_base_episodes_are_the_published_ones(base):
    assert named(base, 5) == [
        ("alias:290:near_post_right", 18),
        ("alias:337:near_post_left", 0),
        ("alias:208:near_post_right", 0),
        ("alias:228:near_post_left", 19),
        ("support:right:near_post_right:022", 1),
    ]


def test_the_base_schedule_repeats_pairs_as_published(base):
    _, counts = np.unique(np.stack([base.shot, base.blackout]), axis=1, return_counts=True)
    assert len(counts) == 12_343
    assert (counts > 1).sum() == 5_311
    assert counts[counts > 1].sum() == 12_968


def test_the_base_schedule_has_the_published_episodes_without_blackout(base):
    digit = np.arange(20_000) % 10
    clear = base.blackout == 0
    assert clear.sum() == 970
    assert (clear & (digit == 8)).sum() == 89
    assert (clear & (digit < 8)).sum() == 773
    assert base.blackout.min() == 0 and base.blackout.max() == 20


def test_the_first_three_shadow_episodes_are_the_published_ones():
    assert named(draw(shadow_schedules()[14303].part(0, 3)), 3) == [
        ("alias:052:near_post_right", 1),
        ("alias:123:near_post_right", 19),
        ("support:left:near_post_left:064", 20),
    ]


def test_collectors_share_the_shadow_schedule_in_order_of_their_seeds():
    schedules = shadow_schedules()
    assert list(schedules) == list(TRAINING_SEEDS)
    for i, schedule in enumerate(schedules.values()):
        assert schedule.seeds[0] == 52303 + 4000 * i and schedule.seeds[-1] == 52303 + 4000 * i + 3999
        assert schedule.indices[0] == 20_000 + 4000 * i


def test_a_part_of_a_schedule_draws_what_the_whole_draws():
    whole, part = draw(CollectionSchedule(50)), draw(CollectionSchedule(50).part(20, 30))
    assert np.array_equal(whole.shot[20:30], part.shot) and np.array_equal(whole.blackout[20:30], part.blackout)
    assert np.array_equal(CollectionSchedule(50).part(20, 30).indices, np.arange(20, 30))


def test_episodes_hide_the_drawn_number_of_observations():
    schedule = CollectionSchedule(20)
    hidden = [int((~episode.tracking.visible).sum()) for episode in episodes(schedule)]
    assert hidden == draw(schedule).blackout.tolist()


def test_unequal_shares_are_refused():
    with pytest.raises(BadInput, match="shared equally"):
        shadow_schedules(21)
