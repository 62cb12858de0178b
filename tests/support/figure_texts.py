"""Texts of figures: whether any two of a panel cover each other."""

from dataclasses import replace

from blindsave.draw.policy_looks import LOOKS
from blindsave.report.figures import export
from blindsave.report.figures.style import LIGHT


def overlaps(panel: export.Panel, size: tuple[float, float], looks: export.Looks = LOOKS) -> list[tuple[str, str]]:
    """Pairs of texts in a panel of this size whose boxes cover each other."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    with rc_context(export.rc(LIGHT)):
        figure = export.blank(*size)
        panel.draw(figure, replace(LIGHT, looks=looks))
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
