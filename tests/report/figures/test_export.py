import re
from xml.etree import ElementTree

from blindsave.report.analysis import Analysis
from blindsave.report.figures import export
from blindsave.report.figures.style import LIGHT
from blindsave.report.registry import figures


def overlaps(panel: export.Panel, size: tuple[float, float]) -> list[tuple[str, str]]:
    """Pairs of texts in a panel of this size whose boxes cover each other."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    with rc_context(export.rc(LIGHT)):
        figure = export.blank(*size)
        panel.draw(figure, LIGHT)
        figure.draw_without_rendering()
        renderer = figure.canvas.get_renderer()
        texts = [
            t
            for t in figure.findobj(Text)
            if t.get_text().strip() and t.get_visible() and t.get_window_extent(renderer).width
        ]
        boxes = []
        for item in texts:
            axes = item.axes
            on_paper = figure.bbox.overlaps(item.get_window_extent(renderer))
            if axes is not None and not axes.axison and item in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
                continue
            if on_paper and not _hidden_tick(item):
                boxes.append((item.get_text(), item.get_window_extent(renderer).shrunk(0.9, 0.75)))
    return [(a, b) for i, (a, one) in enumerate(boxes) for b, other in boxes[i + 1 :] if one.overlaps(other)]


def _hidden_tick(item) -> bool:
    """Tick labels outside an axis' limits exist but are not drawn."""
    axes = item.axes
    if axes is None:
        return False
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        for place, label in zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=False):
            if label is item and not min(limits) <= place <= max(limits):
                return True
    return False


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
