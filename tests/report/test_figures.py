import re
from xml.etree import ElementTree

import numpy as np
import pytest
from figure_texts import overlaps

from blindsave.draw.policy_looks import LOOKS, look
from blindsave.report.analysis import Analysis
from blindsave.report.figures import export, frontier, task
from blindsave.report.figures.style import DARK, LIGHT, variables
from blindsave.report.registry import figures


def test_every_figure_of_the_study_is_drawn(analysis: Analysis):
    found = {plate.name: [panel.name for panel in plate.panels] for plate in figures.made(analysis)}
    assert found["figure-1"] == ["f1a", "f1b", "f1c"]
    assert found["figure-3"] == ["f3a", "f3b", "f3c"]
    assert found["figure-4"] == ["f4a", "f4b"]
    assert {"figure-noise", "figure-paper-versus-ours"} <= found.keys()


def test_no_label_covers_another(analysis: Analysis):
    for plate in figures.made(analysis):
        for panel in plate.panels:
            for size in {panel.size, panel.page_size or panel.size}:
                assert overlaps(panel, size) == [], (panel.name, size)


def test_a_panel_for_the_page_is_valid_and_follows_the_pages_colours(analysis: Analysis):
    panel = next(p for plate in figures.made(analysis) for p in plate.panels if p.name == "f3a")
    svg = export.inline(panel)
    root = ElementTree.fromstring(svg)
    assert root.attrib["role"] == "img" and root.attrib["aria-label"] == panel.alt
    assert "var(--s-structured-k0)" in svg and "var(--font)" in svg
    assert not re.search(r"#[0-9a-f]{6}", re.sub(r'(id|href|clip-path)="[^"]*"', "", svg)), "a colour is not a variable"
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert len(ids) == len(set(ids)) and all(name.startswith("f3a-") for name in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) | set(re.findall(r'href="#([^"]+)"', svg)) <= set(ids)
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", svg)


def test_equal_results_give_equal_pictures(analysis: Analysis, tmp_path):
    plate = next(plate for plate in figures.made(analysis) if plate.name == "figure-paper-versus-ours")
    one, two = export.write(plate, tmp_path / "a"), export.write(plate, tmp_path / "b")
    assert [path.name for path in one] == [f"{plate.name}{end}" for end in (".svg", ".png", "-dark.svg", "-dark.png")]
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_colours_stand_out_from_their_ground():
    def luminance(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    for theme in (LIGHT, DARK):
        ground = luminance(theme.ground)
        for colour, least in [(theme.ink, 7.0), (theme.muted, 4.5), *((theme.series(p), 3.0) for p in LOOKS)]:
            bright, dim = sorted((luminance(colour), ground), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= least, (theme.name, colour)


def test_students_differ_in_colour_and_in_marker():
    families = [name for name in LOOKS if name not in ("teacher_sampled", "ppo")]
    for kind in ("light", "dark", "marker"):
        assert len({getattr(look(name), kind) for name in families}) == len(families)
    assert len({drawn for drawn, _, _ in variables().values()}) == len(variables())


def test_the_frontier_leaves_out_what_another_beats():
    points = {"cheap": (1.0, 40.0), "good": (2.0, 98.0), "worse": (3.0, 97.0), "best": (4.0, 99.0), "twin": (2.0, 90.0)}
    assert frontier.frontier(points) == [(1.0, 40.0), (2.0, 98.0), (4.0, 99.0)]


def test_the_stretched_scale_is_its_own_inverse():
    rates = np.array([0.0, 44.4, 98.3, 100.0])
    assert frontier.unstretch(frontier.stretch(rates)) == pytest.approx(rates)


def test_the_drawn_pair_meets_when_tracking_stops_and_parts_at_the_goal():
    left, right = task.alias_pair()
    assert left.alias_family == right.alias_family
    meet = [task.flight(shot, np.array([0.1]))[0] for shot in (left, right)]
    assert np.abs(meet[0] - meet[1]).max() < 1e-3
    late = [task.flight(shot, np.array([0.8]))[0] for shot in (left, right)]
    assert late[1][1] - late[0][1] > 0.1


def test_the_drawn_flight_is_that_of_the_simulator():
    from blindsave.policies.closed_loop import run
    from blindsave.policies.scripted import INACTIVE
    from blindsave.task.episode import grid

    shot = task.alias_pair()[0]
    truth = run(INACTIVE, grid([shot], [0]), record=True).truth[0]
    drawn = task.flight(shot, np.arange(30) * 0.02)
    assert np.abs(truth[:30, :2] - drawn - [1.51, 0]).max() < 1e-3
