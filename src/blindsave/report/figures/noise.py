"""The noise figure: save rates by noise level."""

from typing import Any

from blindsave.report.analysis import Analysis, NoiseResult, percent
from blindsave.report.figures.curves import errorbar
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.style import Theme
from blindsave.report.names import milliseconds, ordered, sigma_mm, title
from blindsave.report.registry import figures


@figures("noise", needs="noise")
def noise_levels(_analysis: Analysis, noise: NoiseResult) -> Plate | None:
    """The noise extension as a figure, where noise and nothing else was played; `faults` draws the others."""
    if any(sigma_mm(d) == float("inf") for d in noise.saves.disturbances):
        return None
    alt = "Save rates under 0, 1 and 5 mm of position noise, visible and hidden."
    panel = Panel("f5", draw_noise(noise), (6.4, 3.7), alt, page_size=(5.0, 3.6))
    caption = "Save rates when every visible puck position carries Gaussian noise, without retraining; 95 % intervals."
    return Plate("figure-noise", "Noise on the puck's position", caption, ((panel,),))


def draw_noise(noise: NoiseResult) -> Draw:
    """Save rates under noise, by noise level, at the longest blackout of the noise test."""
    held, rates = noise.saves, noise.rates
    levels = sorted((d for d in held.disturbances if sigma_mm(d) != float("inf")), key=sigma_mm)

    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots(1, len(held.blackouts), sharey=True, squeeze=False)[0]
        for ax, blackout in zip(axes, held.blackouts, strict=True):
            names = ordered(held.saved)
            for i, policy in enumerate(names):
                cells = [percent(rates.rate("all", policy, blackout, d)) for d in levels]
                x = [at + 0.07 * (i - (len(names) - 1) / 2) for at in range(len(levels))]
                errorbar(ax, theme, policy, x, cells)
            ax.set_xticks(range(len(levels)), [f"{sigma_mm(d):g}" for d in levels])
            ax.set_xlabel("Noise σ (mm)")
            ax.set_title("Puck always visible" if blackout == 0 else f"Hidden for {milliseconds(blackout)} ms")
            ax.grid(axis="y")
            ax.margins(x=0.12)
        axes[0].set_ylabel("Save rate (%)")
        axes[0].set_ylim(top=100.4)
        handles, _ = axes[0].get_legend_handles_labels()
        labels = [title(policy) for policy in ordered(held.saved)]
        figure.legend(handles, labels, loc="outside lower center", ncols=2 if len(labels) > 3 else 3, handlelength=1.6)

    return draw
