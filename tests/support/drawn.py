"""Figures of the report in tests: a panel drawn without a file, and what can be read in it."""

from collections.abc import Callable
from typing import Any


def drawn(draw: Callable[[Any, Any], None], size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """The figure that a drawing function draws on light ground."""
    from matplotlib import rc_context

    from blindsave.draw.figure_files import blank
    from blindsave.report.figures.style import LIGHT, rc

    with rc_context(rc(LIGHT)):
        figure = blank(*size)
        draw(figure, LIGHT)
    return figure


def words(figure: Any) -> list[str]:
    """Every text in a figure, as people read it."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return [text for item in figure.findobj(Text) if (text := item.get_text().strip())]
