"""Students, teacher and classical rivals by noise level: what a prior is worth, and what a filter."""

from typing import Any

from blindsave.draw.policy_looks import looks
from blindsave.errors import BadInput
from blindsave.evidence import strata
from blindsave.evidence.saves import saves
from blindsave.report.analysis import NoiseResult, percent
from blindsave.report.figures.curves import errorbar
from blindsave.report.figures.export import Draw, Looks, Panel, Plate
from blindsave.report.figures.labels import stack_labels
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, ordered, short, sigma_mm

REPLICATES = 2000
NOT_NOISE = float("inf")


def noise_result(table: Any, replicates: int = REPLICATES) -> NoiseResult:
    """Rates with bootstrap intervals of a table that holds several noise levels of one split."""
    held = saves(table)
    if len([one for one in held.disturbances if sigma_mm(one) != NOT_NOISE]) < 2:
        raise BadInput("a figure by noise level needs rows of at least two, for example `evaluate --noise-mm 0,5`")
    return NoiseResult(held, strata.noise(held, replicates))


def rivals_by_noise(noise: NoiseResult) -> tuple[Plate, Looks]:
    """The figure, and the looks of its policies."""
    held = noise.saves
    size = (4.6 * len(held.blackouts), 3.8)
    panel = Panel("rivals", draw_rivals(noise), size, "Save rates by noise level, one curve for every policy.")
    caption = "Save rate by the noise of every reading, for policies that were not told the level; 95 % intervals."
    plate = Plate("rivals", "Classical rivals under noise", caption, ((panel,),))
    return plate, looks(held.saved)


def draw_rivals(noise: NoiseResult) -> Draw:
    """One panel per blackout length, curves named at their ends."""
    held = noise.saves
    levels = sorted((one for one in held.disturbances if sigma_mm(one) != NOT_NOISE), key=sigma_mm)
    names = ordered(held.saved)

    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots(1, len(held.blackouts), sharey=True, squeeze=False)[0]
        last = len(levels) - 1
        for ax, blackout in zip(axes, held.blackouts, strict=True):
            ends = {}
            for policy in names:
                cells = [percent(noise.rates.rate("all", policy, blackout, level)) for level in levels]
                errorbar(ax, theme, policy, list(range(len(levels))), cells)
                ends[policy] = cells[-1].value
            ax.set_xticks(range(len(levels)), [f"{sigma_mm(level):g}" for level in levels])
            ax.set(xlabel="Noise σ (mm)", ylim=(0, 103), xlim=(-0.2, last + 0.95 * last), yticks=range(0, 101, 20))
            ax.set_title("Puck always visible" if blackout == 0 else f"Hidden for {milliseconds(blackout)} ms")
            ax.grid(axis="y")
            texts, colours = {p: short(p) for p in ends}, {p: theme.series(p) for p in ends}
            stack_labels(ax, ends, last + 0.12, texts, colours, gap=6.5, top=103.0)
        axes[0].set_ylabel("Save rate (%)")

    return draw
