"""The figure of sizes: how many shots a memory saves by how large it is, one line per core."""

from typing import Any

from blindsave.draw.family_names import core_title, sizes_by_core
from blindsave.report.analysis import Analysis, SplitResult, percent
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.style import Theme
from blindsave.report.names import TEACHER, milliseconds, ordered
from blindsave.report.registry import figures


@figures("results", needs="main_at_endpoint")
def sizes(analysis: Analysis, test: SplitResult) -> Plate | None:
    """The figure, where a core occurs in at least two sizes."""
    ms = milliseconds(analysis.endpoint)
    if not sizes_by_core(test.saves.families()):
        return None
    alt = f"Save rate at {ms} ms by the size of the memory, one line per core."
    panel = Panel("f7", draw_sizes(analysis, test), (6.4, 3.9), alt, page_size=(5.0, 3.8))
    caption = (
        f"Save rate with the puck hidden for {ms} ms by the size of the memory: means over training seeds with 95 % "
        "intervals. What a size counts is the core's own affair (units, cells, oscillators, readings)."
    )
    if "structured_k0" in sizes_by_core(test.saves.families()) and "structured_k0" in test.saves.saved:
        caption += " The linear memory of 64 units is the paper's, Structured k = 0."
    if TEACHER in test.saves.saved:
        caption += " The band is the teacher's 95 % interval over shots."
    return Plate("figure-sizes", "Save rate by size", caption, ((panel,),))


def draw_sizes(analysis: Analysis, test: SplitResult) -> Draw:
    """Rates with intervals over size, sizes on a scale of doublings."""
    cores = sizes_by_core(ordered(test.saves.families()))
    rates = {
        core: {size: percent(test.principal.rate(name, analysis.endpoint)) for size, name in sized.items()}
        for core, sized in cores.items()
    }
    shown = sorted({size for sized in cores.values() for size in sized})

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title(f"Save rate at {milliseconds(analysis.endpoint)} ms by size")
        ax.set_xscale("log", base=2)
        if TEACHER in test.saves.saved:
            teacher, colour = percent(test.principal.rate(TEACHER, analysis.endpoint)), theme.series(TEACHER)
            ax.axhspan(teacher.low or teacher.value, teacher.high or teacher.value, color=theme.shade, lw=0, zorder=0)
            ax.axhline(teacher.value, color=colour, lw=1.2, ls=(0, (4, 2)), label="Teacher", zorder=1)
        for i, (core, sized) in enumerate(cores.items()):
            largest, cells = sized[max(sized)], list(rates[core].values())
            shift = 1.025 ** (i - (len(cores) - 1) / 2)  # so that intervals of one size stand beside each other
            below = [max(0.0, cell.value - (cell.value if cell.low is None else cell.low)) for cell in cells]
            above = [max(0.0, (cell.value if cell.high is None else cell.high) - cell.value) for cell in cells]
            look = theme.look(largest)
            style = {"color": theme.series(largest), "marker": look.marker, "mec": theme.ground, "mew": 0.6, "ms": 6.5}
            x, y = [size * shift for size in sized], [cell.value for cell in cells]
            ax.errorbar(x, y, [below, above], lw=1.7, elinewidth=1.3, label=core_title(core), **style)
        ax.set_xticks(shown, [str(size) for size in shown])
        ax.minorticks_off()
        ax.set_xlim(shown[0] / 1.25, shown[-1] * 1.25)
        ax.set(ylabel="Save rate (%)", xlabel="Size of the memory", ylim=(None, min(ax.get_ylim()[1], 101.5)))
        ax.grid(axis="y")
        ax.set_axisbelow(True)
        handles, names = ax.get_legend_handles_labels()
        order = sorted(range(len(names)), key=lambda i: names[i] == "Teacher")
        legend = ([handles[i] for i in order], [names[i] for i in order])
        figure.legend(*legend, loc="outside lower center", ncols=4, handlelength=1.8, columnspacing=1.4)

    return draw
