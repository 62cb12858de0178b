"""Learning curves of a family's training as a picture (extra `report`)."""

from pathlib import Path

from matplotlib.figure import Figure

from blindsave.diagnostics import curve_table
from blindsave.draw.figure_files import blank
from blindsave.errors import BadInput
from blindsave.learning.distil.history import read_lines


def draw_curves(metrics: Path, family: str = "", stage: str = "finals") -> Figure:
    """Training and validation errors of every seed over the epochs, on a logarithmic scale.

    `metrics` is the file of one training, or a study's file of all of them, of which a family and a stage are drawn.
    """
    rows = curve_table.read(metrics, stage, family) if metrics.suffix == ".parquet" else read_lines(metrics)
    if not rows:
        raise BadInput(f"{metrics} holds no epochs")
    figure = blank(6.4, 4.0)
    axes = figure.add_subplot()
    for number, seed in enumerate(sorted({row["seed"] for row in rows})):
        own = [row for row in rows if row["seed"] == seed]
        epochs, colour = [row["epoch"] for row in own], f"C{number % 10}"
        axes.plot(epochs, [row["validation_loss"] for row in own], color=colour, label=str(seed))
        axes.plot(epochs, [row["train_loss"] for row in own], color=colour, linestyle=":", linewidth=1)
    axes.set(xlabel="epoch", ylabel="equal-episode MSE", yscale="log", title="validation (solid) and training (dotted)")
    axes.legend(title="seed")
    axes.grid(alpha=0.3)
    return figure
