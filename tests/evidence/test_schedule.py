"""Grids: every combination once, in one order, described by what decides it."""

from dataclasses import replace

import pytest

from blindsave.errors import BadInput
from blindsave.evidence.schedule import Schedule, noise_levels, schedule
from blindsave.task.shots import shots

SHOTS = shots("validation")[:3]
GRID = schedule("validation", (0, 20), ("clean", "noise_5mm"), SHOTS)
NOISY = GRID.conditions[1]


def test_episodes_come_in_the_order_of_the_layout():
    episodes, layout = GRID.episodes(), GRID.layout
    assert len(episodes) == len(GRID) == len(layout) == 12
    for place, episode in enumerate(episodes):
        row, blackout, disturbance = layout.cell(place)
        assert episode.shot.id == row.shot_id
        assert (~episode.tracking.visible).sum() == blackout
        assert (episode.tracking.offset is None) == (disturbance == "clean")
    assert [layout.cell(place)[1] for place in range(4)] == [0, 0, 20, 20]


def test_a_row_says_what_the_shot_is():
    row = GRID.layout.shots[0]
    assert (row.shot_id, row.unit, row.alias_family) == (SHOTS[0].id, SHOTS[0].unit, SHOTS[0].alias_family)
    assert (row.launch_region, row.target_region) == (SHOTS[0].launch_region, SHOTS[0].target_region)


def test_without_members_the_whole_split_is_played():
    assert schedule("validation", (0,)).shots == shots("validation")
    with pytest.raises(BadInput, match="no split 'validatoin'"):
        schedule("validatoin", (0,))


def test_no_noise_is_clean():
    assert noise_levels((0.0, 2.5)) == ("clean", "noise_2.5mm")
    assert noise_levels((5, 1.23456789)) == ("noise_5mm", "noise_1.23456789mm")


def test_the_description_changes_with_everything_that_decides_the_episodes():
    described = GRID.describe()
    assert described["shots"] == 3 and list(described["conditions"]) == ["clean", "noise_5mm"]
    moved = replace(SHOTS[0], vx=SHOTS[0].vx - 1e-9)
    others = [
        Schedule("test", SHOTS, (0, 20), GRID.conditions),
        Schedule("validation", (moved, *SHOTS[1:]), (0, 20), GRID.conditions),
        Schedule("validation", SHOTS[::-1], (0, 20), GRID.conditions),
        Schedule("validation", SHOTS, (0, 15), GRID.conditions),
        Schedule("validation", SHOTS, (0, 20)),
    ]
    assert all(other.describe() != described for other in others)
    assert schedule("validation", [0, 20], ["clean", "noise_5mm"], list(SHOTS)).describe() == described


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        (((), (0,)), "at least one shot"),
        ((SHOTS, ()), "at least one blackout length"),
        ((SHOTS, (0,), ()), "at least one condition"),
        ((SHOTS * 2, (0,)), "shot .* is named twice"),
        ((SHOTS, (5, 0, 5)), "blackout length 5 is named twice"),
        ((SHOTS, (0,), (NOISY, NOISY)), "condition noise_5mm is named twice"),
    ],
)
def test_an_empty_or_repeating_grid_is_refused(parts, reason):
    with pytest.raises(BadInput, match=reason):
        Schedule("validation", *parts)
