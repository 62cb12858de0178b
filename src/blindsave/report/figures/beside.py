"""Paper and ours side by side at the endpoint: one line per policy."""

from typing import Any

from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.frontier import TICKS, stretch, unstretch
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, ordered, title
from blindsave.report.published import rate
from blindsave.report.registry import figures
from blindsave.report.sheet import Estimate


@figures("paper", needs="principal_at_endpoint")
def beside(analysis: Analysis, test: SplitResult) -> Plate:
    """Paper and ours at the endpoint."""
    alt = "Save rates at 400 ms: ours in colour and the paper's in grey, with 95 % intervals."
    panel = Panel("f6", draw_beside(analysis, test), (6.4, 3.9), alt, page_size=(4.9, 3.7))
    caption = "Save rates on the principal test with 95 % intervals; the paper gives the teacher as a point."
    return Plate("figure-paper-versus-ours", "Paper versus ours", caption, ((panel,),))


def draw_beside(analysis: Analysis, test: SplitResult) -> Draw:
    """Save rates with intervals: ours in colour, the paper's in grey below."""
    policies = ordered(test.saves.saved)

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title(f"Save rate at {milliseconds(analysis.endpoint)} ms")
        for row, policy in enumerate(policies):
            ours = percent(test.principal.rate(policy, analysis.endpoint))
            _bar(ax, theme, ours, row - 0.13, theme.series(policy), theme.look(policy).marker, 2.4, 7)
            theirs = rate(policy, analysis.endpoint)
            if theirs is not None:
                _bar(ax, theme, theirs, row + 0.2, theme.muted, "D", 1.1, 3.6)
        ax.set_yticks(range(len(policies)), [title(policy) for policy in policies])
        ax.set(ylim=(len(policies) - 0.4, -0.6), xlabel="Percent saved, stretched scale; the paper's in grey")
        ax.set_xscale("function", functions=(stretch, unstretch))
        lowest = min(100 * float(test.principal.rate(policy, analysis.endpoint).low) for policy in policies)
        ticks = [tick for tick in TICKS if tick >= lowest - 25 and tick not in (97,)]
        ax.set_xlim(max(0.0, lowest - 12), 100.3)
        ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
        ax.minorticks_off()
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x")
        ax.set_axisbelow(True)

    return draw


def _bar(ax: Any, theme: Theme, cell: Estimate, y: float, colour: str, marker: str, width: float, size: float) -> None:
    if cell.low is not None and cell.high is not None:
        ax.plot([cell.low, cell.high], [y, y], color=colour, lw=width, solid_capstyle="butt")
    ax.plot([cell.value], [y], marker=marker, ms=size, color=colour, mec=theme.ground, mew=0.6, ls="none")
