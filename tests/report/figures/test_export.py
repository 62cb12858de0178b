import re
from xml.etree import ElementTree

from figure_texts import overlaps

from blindsave.report.analysis import Analysis
from blindsave.report.figures import export
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
