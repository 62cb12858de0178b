"""Who stands what: a map of save rates, policies by faults, each fault at its strongest."""

from typing import Any

from matplotlib.patches import Rectangle

from blindsave.report.analysis import Analysis, NoiseResult
from blindsave.report.figures.export import Draw, Panel, Plate
from blindsave.report.figures.faults import CLASSICAL, CLEAN, levels
from blindsave.report.figures.style import Theme
from blindsave.report.names import level, milliseconds, ordered, title, under
from blindsave.report.registry import figures

WORST = 0.5
"""Save rates of this or less are drawn in full colour."""
PHRASES = {
    "noise": "{} mm\nnoise",
    "warp": "table\nwarped\n{} mm",
    "shift": "camera\nmoved\n{} mm",
    "latency": "{} steps\nlate",
    "outliers": "{} %\nfalse",
    "bursts": "{} %\nlost in\nruns",
    "dropped": "{} %\nlost",
    "again": "hidden\nagain,\n{} steps",
    "puck_drag": "{} x\ndrag",
    "glitch": "last one\n{} mm\noff",
    "ghost": "one\nfalse,\nat {}",
    "stale": "repeats,\nsays so",
    "frozen": "repeats\nas if\nseen",
}
"""What columns are called; other faults go by their names."""


@figures("noise", needs="noise")
def fault_map(_analysis: Analysis, found: NoiseResult) -> Plate | None:
    """Every policy under every fault at its strongest, where there are faults other than noise."""
    conditions = strongest(found.saves.disturbances)
    if not conditions:
        return None
    blackout, policies = max(found.saves.blackouts), ranked(found)
    size = (2.1 + 0.62 * len(conditions), 1.0 + 0.27 * len(policies))
    alt = f"Save rates of {len(policies)} policies under {', '.join(map(under, conditions))}, as a map."
    panel = Panel("fault-map", draw_map(found, policies, conditions, blackout), size, alt)
    caption = (
        f"Save rates (%) with the puck hidden for {milliseconds(blackout)} ms, every fault at its strongest; the "
        "deeper the red, the more is missed. Naive students learned without faults."
    )
    return Plate("figure-fault-map", "Who stands what", caption, ((panel,),))


def strongest(disturbances: tuple[str, ...]) -> list[str]:
    """Clean, the largest amount of every fault, and every condition that has no amount."""
    rows = levels(disturbances).values()
    chosen = [[*row][-1:] if level([*row][-1]) else [name for name in row if name != CLEAN] for row in rows]
    found = [name for names in chosen for name in names]
    return [*(name for name in disturbances if name == CLEAN), *found] if found else []


def ranked(found: NoiseResult) -> list[str]:
    """Students, the teacher, then the classical rivals as their ladder has them."""
    present = ordered(found.saves.saved)
    return [*(p for p in present if p not in CLASSICAL), *(p for p in CLASSICAL if p in present)]


def draw_map(found: NoiseResult, policies: list[str], conditions: list[str], blackout: int) -> Draw:
    """A row per policy, a column per fault; numbers in the cells."""

    def draw(figure: Any, theme: Theme) -> None:
        ax = figure.subplots()
        for row, policy in enumerate(policies):
            for column, name in enumerate(conditions):
                rate = found.rates.rate("all", policy, blackout, name).estimate
                red = min(1.0, (1 - rate) / (1 - WORST))
                ax.add_patch(Rectangle((column, row), 1, 1, fc=theme.alarm, alpha=0.75 * red, lw=0))
                style = {"ha": "center", "va": "center", "fontsize": 8.5, "color": theme.ink}
                ax.text(column + 0.5, row + 0.52, f"{100 * rate:.0f}", **style)
        ax.set(xlim=(0, len(conditions)), ylim=(len(policies), 0))
        ax.set_xticks([c + 0.5 for c in range(len(conditions))], [phrase(name) for name in conditions], fontsize=8)
        ax.set_yticks([r + 0.5 for r in range(len(policies))], [title(p) for p in policies])
        ax.tick_params(length=0, labeltop=True, labelbottom=False, top=False)
        for spine in ax.spines.values():
            spine.set_visible(False)

    return draw


def phrase(name: str) -> str:
    """A condition for the head of a narrow column."""
    found = level(name)
    words = PHRASES.get(found.fault if found else name)
    return words.format(f"{found.amount:g}" if found else "") if words else under(name).replace(" ", "\n")
