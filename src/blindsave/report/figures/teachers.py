"""Several teachers in one picture: what they are like against how far their students' window stays behind."""

from typing import Any

from blindsave.report.analysis import Analysis
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.labels import place_labels
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds
from blindsave.report.rank_correlation import RankCorrelation
from blindsave.report.registry import figures
from blindsave.report.sheet import shown
from blindsave.report.teachers import PAPER, TRAITS, Placed, Trait, association, paper

DRAWN = ("label_variance", "distance", "reset_100", "change_hidden")


@figures("results", needs="teachers")
def teachers(analysis: Analysis, placed: tuple[Placed, ...]) -> Plate:
    """Fingerprints against the window's deficit, a panel per trait."""
    traits = [trait for trait in TRAITS if trait.name in DRAWN]
    panels = []
    for letter, trait in zip("abcd", traits, strict=True):
        alt = f"{trait.title} of {len(placed)} teachers against linear memory minus window, in points."
        panels.append(Panel(f"ft{letter}", draw_trait(analysis, placed, trait, letter), (4.5, 3.9), alt))
    caption = (
        "A point is a teacher, named by its seed; its height is what the linear memory saves more than the window of "
        f"ten observations at {milliseconds(analysis.endpoint)} ms on the principal test, means of its students with "
        "95 % intervals. Filled: time-outs cut the teacher's training episodes; open: they ended them. The diamond is "
        "the paper's teacher, from published numbers (a dashed line where its trait was not published); it is not part "
        "of the rank correlations. So few teachers can hint, not show: the tables below have the smallest p possible."
    )
    rows = tuple(panels[:2]), tuple(panels[2:])
    return Plate("figure-teachers", "Teachers, and how far the window stays behind", caption, rows)


def draw_trait(analysis: Analysis, placed: tuple[Placed, ...], trait: Trait, letter: str) -> Draw:
    """One trait against the deficit."""
    theirs = paper()
    ours = {one.name: (x, one) for one in placed if (x := one.value(trait)) is not None}
    known = theirs.value(trait)
    spans = [end for one in (*placed, theirs) for end in (one.deficit.low, one.deficit.high) if end is not None]

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title(f"{letter}   {in_words(association(placed, trait))}", weight="normal")
        ax.axhline(0, color=theme.muted, lw=0.8)
        for x, one in ours.values():
            _point(ax, theme, x, one, theme.series("teacher"), "o", one.fingerprint.get("timeouts") == "truncate")
        if known is None:
            ax.axhline(theirs.deficit.value, color=theme.alarm, lw=1.1, ls=(0, (4, 3)))
            place = {"ha": "right", "va": "bottom", "transform": ax.get_yaxis_transform()}
            ax.text(0.99, theirs.deficit.value, "paper", color=theme.alarm, weight="bold", fontsize=9, **place)
        else:
            _point(ax, theme, known, theirs, theme.alarm, "D", True)
        ax.set(xlabel=trait.title, ylabel=f"Linear − window at {milliseconds(analysis.endpoint)} ms (points)")
        ax.set_ylim(min(spans) - 2.5, max(spans) + 1.5)
        ax.margins(x=0.16)
        ax.grid(axis="y")
        ax.set_axisbelow(True)
        drawn = ours if known is None else {**ours, PAPER: (known, theirs)}
        points = {name: (x, one.deficit.value) for name, (x, one) in drawn.items()}
        colours = {name: theme.alarm if name == PAPER else theme.ink for name in points}
        ends = [at for x, one in drawn.values() for at in _along(x, one)]
        place_labels(ax, points, {name: one.label for name, (_, one) in drawn.items()}, colours, theme.ground, ends)

    return draw


def in_words(found: RankCorrelation) -> str:
    """The rank correlation as the title of a panel."""
    if found.rho is None:
        return f"No rank correlation ({found.points} teachers)"
    span = "" if found.low is None or found.high is None else f" [{shown(found.low, 2)}, {shown(found.high, 2)}]"
    chance = "p < 0.01" if found.p is None or found.p < 0.01 else f"p = {found.p:.2f}"
    return f"ρ = {shown(found.rho, 2, True)}{span}, {chance} ({found.points} teachers)"


def _point(ax: Any, theme: Theme, x: float, one: Placed, colour: str, marker: str, filled: bool) -> None:
    ax.plot(*zip(*_along(x, one), strict=True), color=colour, lw=1.6, solid_capstyle="butt", zorder=2)
    face = colour if filled else theme.ground
    ax.plot([x], [one.deficit.value], marker=marker, ms=7.5, mfc=face, mec=colour, mew=1.6, ls="none", zorder=3)


def _along(x: float, one: Placed) -> list[tuple[float, float]]:
    """Points along an interval, close enough to keep labels off it."""
    low, value, high = one.deficit.low, one.deficit.value, one.deficit.high
    low, high = value if low is None else low, value if high is None else high
    return [(x, low + (high - low) * part / 8) for part in range(9)]
