"""Figures of faults: a panel per kind, students and rivals apart, and the map of who stands what."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")

from drawn import drawn, words

from blindsave.evidence import strata
from blindsave.report.analysis import Analysis, NoiseResult
from blindsave.report.figures.fault_map import fault_map, phrase, strongest
from blindsave.report.figures.faults import fault_levels, levels, rival_levels

CONDITIONS = ("clean", "noise_5mm", "outliers_10percent", "outliers_3percent", "ghost_0", "ghost_4", "frozen")
POLICIES = ("structured_k0", "structured_k0_naive", "teacher", "kalman", "bayes")


@pytest.fixture
def faulty(analysis: Analysis) -> NoiseResult:
    """The noise shots under made-up faults: every policy saves a share of its own, less under every further one."""
    assert analysis.noise is not None
    held = analysis.noise.saves
    shots, rng = len(held.shot_ids), np.random.default_rng(0)
    saved, seeds = {}, {}
    for i, name in enumerate(POLICIES):
        seeds[name] = (14303, 14304) if name.startswith("structured") else (0,)
        rates = np.linspace(0.95 - 0.1 * i, 0.2, len(CONDITIONS))
        saved[name] = rng.random((len(seeds[name]), shots, 1, len(CONDITIONS))) < rates
    held = replace(held, disturbances=CONDITIONS, blackouts=(20,), saved=saved, seeds=seeds)
    return NoiseResult(held, strata.noise(held, 20))


def test_faults_begin_clean_and_grow():
    found = levels(CONDITIONS)
    assert found["false readings (%)"] == {"clean": "none", "outliers_3percent": "3", "outliers_10percent": "10"}
    assert found["one false reading, at"] == {"clean": "none", "ghost_0": "0", "ghost_4": "4"}
    assert found["while hidden"] == {"clean": "none", "frozen": "frozen"}
    assert levels(("clean", "noise_1mm", "noise_5mm")) == {}  # has a figure of its own


def test_students_and_rivals_are_drawn_apart(analysis: Analysis, faulty: NoiseResult):
    students, rivals = (make(analysis, faulty) for make in (fault_levels, rival_levels))
    assert students is not None and rivals is not None
    said = [set(words(drawn(plate.panels[0].draw, plate.panels[0].size))) for plate in (students, rivals)]
    assert {"Structured k = 0", "Structured k = 0, naive", "Teacher"} <= said[0] and "Kalman filter" not in said[0]
    assert {"Kalman filter", "Bayes, knows the shots", "Teacher"} <= said[1] and "Structured k = 0, naive" not in said[
        1
    ]


def test_without_rivals_or_faults_there_is_no_figure_of_them(analysis: Analysis, faulty: NoiseResult):
    assert analysis.noise is not None
    assert rival_levels(analysis, analysis.noise) is None
    assert fault_levels(analysis, analysis.noise) is None and fault_map(analysis, analysis.noise) is None


def test_the_map_has_a_row_per_policy_and_a_column_per_strongest_fault(analysis: Analysis, faulty: NoiseResult):
    assert strongest(CONDITIONS) == ["clean", "noise_5mm", "outliers_10percent", "ghost_4", "frozen"]
    plate = fault_map(analysis, faulty)
    assert plate is not None
    (ax,) = drawn(plate.panels[0].draw, plate.panels[0].size).axes
    assert [label.get_text() for label in ax.get_yticklabels()][-2:] == ["Kalman filter", "Bayes, knows the shots"]
    assert len(ax.get_yticklabels()) == len(POLICIES) and len(ax.patches) == 5 * len(POLICIES)
    rate = faulty.rates.rate("all", "structured_k0", 20, "clean").estimate
    assert ax.texts[0].get_text() == f"{100 * rate:.0f}"


def test_columns_are_called_in_plain_words_or_by_their_names():
    assert phrase("outliers_10percent") == "10 %\nfalse"
    assert phrase("latency_2+noise_5mm") == "latency\n2\n+\nnoise\n5\nmm"
