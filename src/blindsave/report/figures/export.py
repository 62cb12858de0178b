"""From panels to files and to SVG that a page can colour: equal results give equal bytes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from blindsave.draw.figure_files import blank, encoded
from blindsave.draw.policy_looks import LOOKS, Look
from blindsave.report.figures.style import DARK, FONTS, LIGHT, Theme, rc, variables
from blindsave.store import write_whole

DPI = 200
Draw = Callable[[Any, Theme], None]
Looks = Mapping[str, Look]


@dataclass(frozen=True)
class Panel:
    """One picture: how to draw it, its size in inches, and what it shows, in words."""

    name: str
    draw: Draw
    size: tuple[float, float]
    alt: str
    page_size: tuple[float, float] | None = None
    """Another size for the page, where the panel of a wide figure must still be readable on a phone."""


@dataclass(frozen=True)
class Plate:
    """A numbered figure: rows of panels, with the caption of the whole."""

    name: str
    title: str
    caption: str
    rows: tuple[tuple[Panel, ...], ...]
    section: str = ""
    """Where the page shows it."""

    @property
    def panels(self) -> tuple[Panel, ...]:
        """Every panel in reading order."""
        return tuple(panel for row in self.rows for panel in row)


def write(plate: Plate, folder: Path, looks: Looks = LOOKS) -> list[Path]:
    """Write a figure as SVG and PNG for light and for dark pages."""
    written = []
    for theme, suffix in ((LIGHT, ""), (DARK, "-dark")):
        with rc_context(rc(theme)):
            figure = _drawn(plate, replace(theme, looks=looks))
            written.append(write_whole(folder / f"{plate.name}{suffix}.svg", _svg(figure)))
            written.append(write_whole(folder / f"{plate.name}{suffix}.png", encoded(figure, "png", DPI)))
    return written


def inline(panel: Panel, looks: Looks = LOOKS) -> str:
    """One panel as an SVG element for a page: colours are CSS variables, letters are the page's own."""
    size = panel.page_size or panel.size
    with rc_context(rc(LIGHT)):
        figure = blank(*size)
        panel.draw(figure, replace(LIGHT, looks=looks))
        svg = _svg(_settled(figure), transparent=True)
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{panel.name}-", svg)
    svg = _page_colours(svg, looks)
    width, height = (f"{72 * inches:g}" for inches in size)
    label = panel.alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    head = f'<svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}"'
    svg = re.sub(r"<svg[^>]*>", f'{head} xmlns:xlink="http://www.w3.org/1999/xlink">', svg, count=1)
    return svg.strip()


_SVG_FONTS = ", ".join(f"'{name}'" if " " in name else name for name in FONTS) + ", sans-serif"


def _drawn(plate: Plate, theme: Theme) -> Figure:
    width = max(sum(panel.size[0] for panel in row) for row in plate.rows)
    heights = [max(panel.size[1] for panel in row) for row in plate.rows]
    figure = blank(width, sum(heights))
    bands = _split(figure, heights, vertical=True)
    for band, row in zip(bands, plate.rows, strict=True):
        for place, panel in zip(_split(band, [p.size[0] for p in row], vertical=False), row, strict=True):
            panel.draw(place, theme)
    return _settled(figure)


def _settled(figure: Figure) -> Figure:
    """Lay out once; otherwise every file would do it again."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _split(parent: Any, parts: Sequence[float], vertical: bool) -> list[Any]:
    if len(parts) == 1:
        return [parent]
    if vertical:
        return list(parent.subfigures(len(parts), 1, height_ratios=parts))
    return list(parent.subfigures(1, len(parts), width_ratios=parts))


def _svg(figure: Figure, transparent: bool = False) -> str:
    # Matplotlib writes `font:` or `font-family:`, depending on its version.
    svg = encoded(figure, "svg", transparent=transparent).decode()
    svg = re.sub(r"'DejaVu Sans'[^;\"]*", _SVG_FONTS, svg)
    return re.sub(r"(\d+\.\d{3})\d+", r"\1", svg)  # three decimals are a thousandth of a point


def _page_colours(svg: str, looks: Looks) -> str:
    svg = svg.replace(f" {_SVG_FONTS}", " var(--font)")
    for name, (drawn, _, _) in variables(looks).items():
        svg = svg.replace(f": {drawn}", f": var({name})")
    return svg


def css(looks: Looks = LOOKS) -> tuple[str, str]:
    """Declarations of the variables for light and for dark pages."""
    named = variables(looks)
    light = "".join(f"{name}:{value};" for name, (_, value, _) in named.items())
    dark = "".join(f"{name}:{value};" for name, (_, _, value) in named.items())
    return light, dark
