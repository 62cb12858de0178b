"""Rivals by noise level."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from figure_texts import overlaps
from synthetic_tables import shot_rows, table

from blindsave.errors import BadInput
from blindsave.report.figures.rivals import noise_result, rivals_by_noise

POLICIES = ("bayes", "kalman", "differences", "structured_k0", "teacher")
LEVELS = ("clean", "noise_2mm", "noise_5mm")


def made(levels=LEVELS):
    def decide(policy, _seed, shot, _blackout, disturbance):
        return policy != "differences" or disturbance == "clean" or int(shot.unit[-3:]) % 2 == 0

    return table(dict.fromkeys(POLICIES, (0,)), decide, (0, 20), levels, shot_rows(6, (2, 1, 1, 2)), "validation")


def test_every_policy_is_named_once_per_panel_and_no_texts_overlap():
    plate, looks = rivals_by_noise(noise_result(made(), replicates=50))
    assert looks.keys() == set(POLICIES)
    assert len({one.light for one in looks.values()}) == len(POLICIES)
    (panel,) = plate.panels
    assert not overlaps(panel, panel.size, looks)


def test_one_noise_level_is_no_figure():
    with pytest.raises(BadInput, match="at least two"):
        noise_result(made(("clean",)), replicates=50)
