"""Figure 1c: the teacher with memory, without its state, and a policy that never had any."""

from typing import Any

from blindsave.evidence.principal import principal
from blindsave.report.analysis import Analysis, percent
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, title


def draw_memory(analysis: Analysis) -> Any:
    """Panel c, as a drawing function: save rates with intervals, seen and hidden."""
    rates = {name: principal(held, replicates=analysis.replicates) for name, held in analysis.memory_saves.items()}
    groups = [(members[0].a, other, members) for other, members in analysis.memory.items()]

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title("c   Without memory, no save")
        lengths = [0, _hidden(analysis)]
        for column, (teacher, other, members) in enumerate(groups):
            for side, policy in enumerate((teacher, other)):
                x = [column * 3.1 + side * 0.34 - 0.17 + i * 1.25 for i in range(2)]
                cells = [percent(rates[other].rate(policy, n)) for n in lengths]
                points = [cell.value for cell in cells]
                low = [cell.value - (cell.low or 0) for cell in cells]
                high = [(cell.high or 0) - cell.value for cell in cells]
                colour = theme.series(policy)
                style = {"color": colour, "marker": theme.look(policy).marker, "ms": 8, "capsize": 0, "elinewidth": 2.2}
                ax.errorbar(x, points, [low, high], ls="-", lw=1.1, **style)
            _bracket(ax, theme, column * 3.1 + 1.25, members, lengths[1])
            ax.text(column * 3.1 + 0.62, 126, f"versus\n{title(other)}", ha="center", va="top", linespacing=1.25)
        ticks = [column * 3.1 + i * 1.25 for column in range(len(groups)) for i in range(2)]
        labels = [f"{milliseconds(n)} ms" for _ in groups for n in lengths]
        ax.set(
            ylim=(0, 127),
            ylabel="Save rate (%)",
            xticks=ticks,
            yticks=range(0, 101, 20),
            xlim=(-0.95, ticks[-1] + 1.65),
        )
        ax.set_xticklabels(labels)
        ax.grid(axis="y")
        ax.set_xlabel("How long the puck is hidden")

    return draw


def _hidden(analysis: Analysis) -> int:
    """The endpoint, or the longest blackout of the memory tests where another study's endpoint is not among theirs."""
    played = set.intersection(*(set(held.blackouts) for held in analysis.memory_saves.values()))
    return analysis.endpoint if analysis.endpoint in played else max(played)


def _bracket(ax: Any, theme: Theme, x: float, members: Any, endpoint: int) -> None:
    """The paired difference at the endpoint, in figures."""
    found = next((c for c in members if c.blackout == endpoint), None)
    if found is None:
        return
    number = percent(found, True)
    middle = 100 * (1 - found.estimate / 2) - 3
    ax.text(x + 0.28, middle, number.point, va="bottom", weight="bold", fontsize=9.5)
    ax.text(x + 0.28, middle - 2, number.span, va="top", fontsize=7.5, color=theme.muted)
