"""How figures of the evidence are written: equal figures give equal bytes."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from blindsave.errors import BadInput
from blindsave.store import write_whole

METADATA: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}


def check_name(path: Path) -> None:
    """Refuse a name whose end says neither PNG nor SVG."""
    if path.suffix.removeprefix(".") not in METADATA:
        raise BadInput(f"a figure is written as .png or .svg, not as {path.name}")


def save(draw: Callable[[], Figure], *paths: Path) -> list[Path]:
    """Draw once and write to every path, as PNG or SVG by its end."""
    for path in paths:
        check_name(path)
    with rc_context({"svg.hashsalt": "blindsave", "svg.fonttype": "path"}):
        figure = draw()
        for path in paths:
            buffer, kind = io.BytesIO(), path.suffix.removeprefix(".")
            figure.savefig(buffer, format=kind, dpi=160, metadata=METADATA[kind])
            write_whole(path, buffer.getvalue())
    return list(paths)
