"""Figure 3: save rates as curves, and below them the forest plot of differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from blindsave.report.analysis import LONGEST_TRAINED, Analysis, SplitResult, percent
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.forest import draw_forest, drawn_differences
from blindsave.report.figures.labels import stack_labels
from blindsave.report.figures.style import Theme
from blindsave.report.names import TEACHER, milliseconds, ordered, short, title
from blindsave.report.registry import figures
from blindsave.report.sheet import Estimate

CLOSE_UP_FLOOR = 90.0
WIDE = ("feed_forward", "finite_stack_10", "structured_k0", TEACHER)
DODGE_MS = 7.0
MOST_LABELS = 12
"""More curves than this are named in a legend below."""
LEGEND_ROW = 0.2
"""Inches."""
Curve = Mapping[int, Estimate]
PAPER_ALTS = (
    "Save rate falls with blackout length without memory, not with it.",
    "All recurrent students stay close to the teacher up to 400 ms.",
)
ALTS = ("Save rate by blackout length for every policy.", "The same curves, close up.")


@figures("results", needs="main_at_endpoint")
def behaviour(analysis: Analysis, test: SplitResult) -> Plate:
    """Figure 3."""
    ms = milliseconds(analysis.endpoint)
    size = (4.5, 3.6 + LEGEND_ROW * max(0, (len(test.saves.saved) + 2) // 3 - 3))
    alts = PAPER_ALTS if test.asks_the_papers_questions else ALTS
    top = (Panel("f3a", draw_full(test), size, alts[0]), Panel("f3b", draw_close(test), size, alts[1]))
    rows: tuple[tuple[Panel, ...], ...] = (top,)
    large, small = drawn_differences(analysis, test)
    count = len(large) + len(small)
    if count:
        alt = f"Forest plot of paired save-rate differences at {ms} ms with 95 % intervals."
        size, page_size = (9.0, max(3.6, 1.44 + 0.36 * count)), (5.4, max(4.2, 1.8 + 0.4 * count))
        rows = (top, (Panel("f3c", draw_forest(analysis, large, small), size, alt, page_size=page_size),))
    return Plate("figure-3", "Principal behavioural results", _caption(analysis, test, ms, count), rows)


def _caption(analysis: Analysis, test: SplitResult, ms: int, count: int) -> str:
    margin = f"the band is the equivalence margin of ±{100 * analysis.margin:g} points."
    ours = "Means over training seeds with 95 % intervals; the teacher is one policy."
    if test.asks_the_papers_questions:
        return (
            "(a) Save rate by how long the puck is hidden. (b) The same, close up, for the policies with memory. "
            f"{ours} (c) Paired differences at {ms} ms, ours in colour, the paper's in grey below; {margin}"
        )
    said = f"(a) Save rate by how long the puck is hidden. (b) The same, close up, where most shots are saved. {ours}"
    if not count:
        return said
    few = f" (the {count} largest of {len(test.differences())})" if count < len(test.differences()) else ""
    return f"{said} (c) The planned paired differences{few} at {ms} ms; {margin}"


def rate_curves(test: SplitResult, policies: Sequence[str]) -> dict[str, Curve]:
    """Save rates in percent by policy and blackout length in milliseconds."""
    return {
        policy: {milliseconds(n): percent(test.principal.rate(policy, n)) for n in test.principal.blackouts}
        for policy in policies
    }


def draw_full(test: SplitResult) -> Draw:
    """Panel a: the whole scale, and the policies that differ on it."""
    papers = test.asks_the_papers_questions
    present = [policy for policy in WIDE if policy in test.saves.saved and papers]
    curves = rate_curves(test, present if set(present) - {TEACHER} else ordered(test.saves.saved))
    longest = max(len(short(policy)) for policy in curves)
    room, top = (0.40, None) if papers else (0.40 * max(1.0, longest / 11), 103.0)

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title("a   Hide the puck")
        _curves(ax, theme, curves, dodge=0)
        last = max(x for curve in curves.values() for x in curve)
        ends = {policy: curve[max(curve)].value for policy, curve in curves.items()}
        ax.set(ylim=(0, 103), ylabel="Save rate (%)", yticks=range(0, 101, 20))
        if len(ends) <= MOST_LABELS:
            ax.set_xlim(-22, last + room * max(last, 100))
            texts, colours = {p: short(p) for p in ends}, {p: theme.series(p) for p in ends}
            stack_labels(ax, ends, last + 14, texts, colours, gap=6.5, top=top)
        else:
            ax.set_xlim(-22, last + 22)
            _legend(figure, ax, curves)
        _time_axis(ax, theme, curves)

    return draw


def draw_close(test: SplitResult) -> Draw:
    """Panel b: the top tenth of the scale, and the policies that live there."""
    every = rate_curves(test, ordered(test.saves.saved))
    near = {
        p: c
        for p, c in every.items()
        if min((cell.value for x, cell in c.items() if x <= 400), default=0.0) >= CLOSE_UP_FLOOR - 4
    }
    curves = near if near.keys() - {TEACHER} else every

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        ax.set_title("b   Look closely")
        floor = min(CLOSE_UP_FLOOR, 2 * (min(c.value for curve in curves.values() for c in curve.values()) // 2) - 1)
        _curves(ax, theme, curves, dodge=DODGE_MS)
        last = max(x for curve in curves.values() for x in curve)
        ax.set(ylim=(floor, 100.4), ylabel="Save rate (%)", xlim=(-32, last + 32))
        _time_axis(ax, theme, curves, words_at="top")
        _legend(figure, ax, curves)

    return draw


def _legend(figure: Any, ax: Any, curves: Mapping[str, Curve]) -> None:
    handles, _ = ax.get_legend_handles_labels()
    names = [short(policy) for policy in curves]
    figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=1.6, columnspacing=1.4)


def _curves(ax: Any, theme: Theme, curves: Mapping[str, Curve], dodge: float) -> None:
    for i, (policy, curve) in enumerate(curves.items()):
        shift = dodge * (i - (len(curves) - 1) / 2)
        errorbar(ax, theme, policy, [x + shift for x in curve], list(curve.values()))
    ax.grid(axis="y")


def errorbar(ax: Any, theme: Theme, policy: str, x: Sequence[float], cells: Sequence[Estimate]) -> None:
    """One policy's rates with their intervals, in its own colour and marker."""
    teacher = policy == TEACHER
    below = [0.0 if cell.low is None or teacher else cell.value - cell.low for cell in cells]
    above = [0.0 if cell.high is None or teacher else cell.high - cell.value for cell in cells]
    ax.errorbar(
        x,
        [cell.value for cell in cells],
        [[max(0.0, v) for v in below], [max(0.0, v) for v in above]],
        color=theme.series(policy),
        marker=theme.look(policy).marker,
        ms=8 if teacher else 5.5,
        mec=theme.ground,
        mew=0.6,
        lw=1.4 if teacher else 1.7,
        ls=(0, (4, 2)) if teacher else theme.look(policy).line,
        elinewidth=1.3,
        label=title(policy),
    )


def _time_axis(ax: Any, theme: Theme, curves: Mapping[str, Curve], words_at: str = "bottom") -> None:
    ticks = sorted({x for curve in curves.values() for x in curve})
    ax.set_xticks(ticks)
    ax.set_xlabel("How long the puck is hidden (ms)")
    beyond = [x for x in ticks if x > milliseconds(LONGEST_TRAINED)]
    if beyond:
        start = (beyond[0] + milliseconds(LONGEST_TRAINED)) / 2
        ax.axvspan(start, ax.get_xlim()[1], color=theme.shade, alpha=0.7, lw=0, zorder=0)
        place = 0.98 if words_at == "top" else 0.02
        style = {"fontsize": 8, "color": theme.muted, "linespacing": 1.1, "transform": ax.get_xaxis_transform()}
        ax.text(start + 8, place, "beyond\ntraining", va=words_at, **style)
