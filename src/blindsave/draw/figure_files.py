"""How figures become files, all of them: equal figures give equal bytes."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from blindsave.errors import BadInput
from blindsave.store import write_whole

METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def blank(width: float, height: float) -> Figure:
    """An empty figure of a size in inches that opens no window, whatever the machine is set to."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def encoded(figure: Figure, kind: str, dpi: int = 160, **options: Any) -> bytes:
    """A figure as the bytes of a PNG, SVG or PDF file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi, metadata=METADATA[kind], **options)
    return buffer.getvalue()


def check_name(path: Path) -> None:
    """Refuse a name whose end says neither PNG, SVG nor PDF."""
    if path.suffix.removeprefix(".") not in METADATA:
        raise BadInput(f"a figure is written as .png, .svg or .pdf, not as {path.name}")


def save(draw: Callable[[], Figure], *paths: Path) -> list[Path]:
    """Draw once and write to every path, in the format its end says."""
    for path in paths:
        check_name(path)
    with rc_context({"svg.hashsalt": "blindsave", "svg.fonttype": "path"}):
        figure = draw()
        return [write_whole(path, encoded(figure, path.suffix.removeprefix("."))) for path in paths]
