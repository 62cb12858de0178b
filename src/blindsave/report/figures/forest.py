"""Figure 3c: paired differences as a forest plot, large ones and small ones on their own scales."""

from collections.abc import Sequence
from typing import Any

from blindsave.evidence.intervals import Contrast
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.figures.export import Draw
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, pair
from blindsave.report.published import difference

FAR = 5
"""Differences beyond this many margins are drawn on a scale of their own."""
MOST = 24
"""More rows than this nobody reads; the table has them all."""
LARGE = (("structured_k0", "feed_forward"), ("structured_k0", "finite_stack_10"))
SMALL = (
    ("structured_k0", "gru_n64"),
    ("structured_k1", "structured_k0"),
    ("structured_k2", "structured_k0"),
    ("structured_k4", "structured_k0"),
)


def drawn_differences(analysis: Analysis, test: SplitResult) -> tuple[list[Contrast], list[Contrast]]:
    """Large and small ones: those that the paper draws, or those that the study itself planned."""
    large, small = (
        [
            test.principal.difference(a, b, analysis.endpoint, analysis.margin)
            for a, b in pairs
            if {a, b} <= test.saves.saved.keys()
        ]
        for pairs in (LARGE, SMALL)
    )
    if test.asks_the_papers_questions and (large or small):
        return large, small
    planned = test.differences()
    clearest = sorted(planned, key=lambda one: -abs(one.estimate))[:MOST]
    shown = [one for one in planned if one in clearest]
    far = [one for one in shown if abs(one.estimate) > FAR * analysis.margin]
    return far, [one for one in shown if one not in far]


def draw_forest(analysis: Analysis, large: Sequence[Contrast], small: Sequence[Contrast]) -> Draw:
    """Differences at the endpoint; the paper's, where it gives one, in grey below ours."""

    def draw(figure: Any, theme: Theme) -> None:
        sets = [members for members in (large, small) if members]
        ratios = [len(members) + 0.9 for members in sets]
        axes = figure.subplots(len(sets), 1, squeeze=False, height_ratios=ratios)[:, 0]
        figure_title = f"c   Paired differences at {milliseconds(analysis.endpoint)} ms"
        axes[0].set_title(figure_title)
        for ax, members in zip(axes, sets, strict=True):
            _rows(ax, theme, members)
            if members is small:
                band = 100 * analysis.margin
                ax.axvspan(-band, band, color=theme.shade, lw=0, zorder=0)
        axes[-1].set_xlabel("Percentage points; positive favours the first named")

    return draw


def _rows(ax: Any, theme: Theme, members: Sequence[Contrast]) -> None:
    ax.axvline(0, color=theme.muted, lw=1)
    ends = [0.0]
    for row, c in enumerate(members):
        colour = theme.series(c.b if c.a == "structured_k0" else c.a)
        ours, theirs = percent(c, True), difference(c.a, c.b)
        assert ours.low is not None and ours.high is not None
        ax.plot([ours.low, ours.high], [row, row], color=colour, lw=2.6, solid_capstyle="butt")
        ax.plot([ours.value], [row], marker="o", ms=7, color=colour, mec=theme.ground, mew=0.8)
        ends += [ours.low, ours.high]
        if theirs is not None and theirs.low is not None and theirs.high is not None:
            ax.plot([theirs.low, theirs.high], [row + 0.3] * 2, color=theme.muted, lw=1.1)
            ax.plot([theirs.value], [row + 0.3], marker="D", ms=3.6, color=theme.muted)
            ends += [theirs.low, theirs.high]
    span = max(ends) - min(ends)
    right = max(ends) + 0.05 * span
    for row, c in enumerate(members):
        number = percent(c, True)
        backing = {"fc": theme.ground, "ec": "none", "pad": 1.5}
        ax.text(right, row + 0.1, f"{number.point} {number.span}", va="center", fontsize=8.5, bbox=backing)
    ax.set_yticks(range(len(members)), [pair(c.a, c.b) for c in members])
    ax.set(ylim=(len(members) - 0.35, -0.6), xlim=(min(ends) - 0.06 * span, right + 0.36 * span))
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x")
    ax.set_axisbelow(True)
