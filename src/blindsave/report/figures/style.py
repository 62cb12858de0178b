"""One look for every picture, on white and on dark ground."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from blindsave.draw.policy_looks import LOOKS, Look, look

FONTS = ("Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans")


@dataclass(frozen=True)
class Theme:
    """Colours by role; every role has its own hex, so that a page can swap them afterwards."""

    name: str
    ink: str
    muted: str
    grid: str
    ground: str
    shade: str
    ice: str
    rail: str
    line: str
    alarm: str
    hidden: str
    """What the goalkeeper cannot see; shades of the colour that films and the live arena use."""
    looks: Mapping[str, Look] = field(default_factory=dict)
    """Of the policies that the report draws together."""

    def look(self, policy: str) -> Look:
        """How a policy is drawn."""
        return self.looks.get(policy) or look(policy)

    def series(self, policy: str) -> str:
        """A policy's colour."""
        chosen = self.look(policy)
        return chosen.light if self.name == "light" else chosen.dark


LIGHT = Theme(
    "light",
    "#1b2228",
    "#58636d",
    "#dde3e8",
    "#ffffff",
    "#e9eef3",
    "#f1f6fa",
    "#9aa8b4",
    "#c3d2de",
    "#c22f2f",
    "#a21caf",
)
DARK = Theme(
    "dark", "#e9edf1", "#a3afba", "#343d46", "#14191e", "#262e36", "#1b242c", "#7b8996", "#3c4c5a", "#ff7b72", "#d945f0"
)
ROLES = ("ink", "muted", "grid", "ground", "shade", "ice", "rail", "line", "alarm", "hidden")


def rc(theme: Theme) -> dict[Any, Any]:
    """Matplotlib settings of a theme."""
    return {
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],  # measured with the widest of FONTS, so that none overlaps
        "font.size": 9.5,
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 9,
        "axes.labelsize": 9.5,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.ink,
        "axes.linewidth": 0.8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "figure.facecolor": theme.ground,
        "savefig.facecolor": theme.ground,
        "text.color": theme.ink,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "grid.color": theme.grid,
        "grid.linewidth": 0.8,
        "lines.solid_capstyle": "round",
        "legend.frameon": False,
        "legend.fontsize": 9,
        "svg.fonttype": "none",
        "svg.hashsalt": "blindsave",
        "path.simplify": False,
    }


def variables(looks: Mapping[str, Look] = LOOKS) -> dict[str, tuple[str, str, str]]:
    """CSS variables of a page: name -> (hex drawn on light ground, light, dark)."""
    named = {f"--f-{role}": (getattr(LIGHT, role), getattr(LIGHT, role), getattr(DARK, role)) for role in ROLES}
    for policy, chosen in {**LOOKS, **looks}.items():
        if chosen.light not in {drawn for drawn, _, _ in named.values()}:
            named[f"--s-{policy.replace('_', '-')}"] = (chosen.light, chosen.light, chosen.dark)
    return named
