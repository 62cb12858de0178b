"""The command that lets twins exchange their memories."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import tyro

from blindsave.cli.shared import Threads, print_table, whole_numbers
from blindsave.cli.targets import OutFile
from blindsave.errors import BadInput

if TYPE_CHECKING:
    from blindsave.policies import NamedPolicy

Row = dict[str, Any]
WORDS = {
    "exchange": "memories were exchanged",
    "erase": "memories were erased",
    "arm": "twins began to see each other's arm",
    "leave": "arms were sent to the other post",
    "hold": "arms were released",
}


@dataclass(frozen=True)
class MemorySwap:
    """Find out which remembers, the network or the arm: twins exchange memories while the puck is hidden.

    Alias shots come in pairs that look the same when the puck disappears and go to opposite posts. With the other
    twin's memory in a policy and its own arm in place, a goal means that the network's memory decided, a save that the
    arm did. docs/memory-tests.md explains it.
    """

    policies: tyro.conf.Positional[tuple[str, ...]] = (
        "teacher",
        "gru_n64",
        "structured_k0",
        "finite_stack_10",
        "feed_forward",
    )
    """`teacher`, a family (all its shipped seeds), FAMILY/SEED of a shipped student, or a policy file."""
    how: Literal["exchange", "erase", "arm", "leave", "hold"] = "exchange"
    """Exchange the twins' memories; erase them; show each its twin's arm from then on; send each arm to its twin's side
    as hard as it can go, the control that says from when on it is too late to leave; or hold the arm until then, so
    that it cannot remember."""
    steps: str = "5,7,9,11,13,15,17,19,21,23,25"
    """Observations (20 ms each) before which it happens, each in a run of its own; 5 is the first hidden one."""
    blackout: int = 121
    """For how many observations the puck is hidden; by default to the end, so that seeing it again helps nobody."""
    split: str = "test"
    """Whose alias shots."""
    pairs: int | None = None
    """Only the first pairs (a trial)."""
    out: OutFile | None = None
    """Also write the figures to this JSON file."""
    figure: OutFile | None = None
    """Draw them (.png or .svg; needs the extra `report`)."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play every policy undisturbed and with its memory changed at every chosen moment."""
        from blindsave.diagnostics import swap
        from blindsave.progress import Progress
        from blindsave.store import provenance, write_json

        steps = whole_numbers(self.steps, "--steps")
        if self.figure is not None:  # before minutes of playing, not after
            from blindsave.draw import figure_files as pictures

            pictures.check_name(self.figure)
        chosen = {name: seeds_of(name) for name in self.policies}
        episodes = len(swap.twins(self.split, self.pairs)) * (1 + len(steps))
        total = episodes * sum(map(len, chosen.values()))
        options = {"split": self.split, "steps": steps, "blackout": self.blackout, "how": self.how, "pairs": self.pairs}
        rows = []
        with Progress("memories", total) as bar:
            for name, found in chosen.items():
                made = swap.swaps(name, found, **options, threads=self.threads, progress=bar.advance)
                rows += [_row(one, swap.milliseconds) for one in made]
        result = {**options, "steps": list(steps), "rows": rows}
        if self.out is not None:
            write_json(self.out, {**result, "measured_on": provenance()})
        if self.figure is not None:
            from blindsave.diagnostics import swap_figure
            from blindsave.draw import figure_files as pictures

            pictures.save(lambda: swap_figure.draw(rows), self.figure)
        return result

    def show(self, result: dict[str, Any]) -> None:
        """Print save rates by how long the puck had been hidden."""
        by_policy: dict[str, list[Row]] = {}
        for row in result["rows"]:
            by_policy.setdefault(row["policy"], []).append(row)
        saved = [_line(rows) for rows in zip(*by_policy.values(), strict=True)]
        title = f"{result['split']}: alias shots saved (%), by how long the puck was hidden when {WORDS[result['how']]}"
        print_table(title, ["when", *by_policy], saved)
        if self.out is not None:
            print(f"intervals: {self.out}")


def seeds_of(name: str) -> "list[NamedPolicy]":
    """The policies behind a name: all shipped seeds of a family, or the one that is named."""
    from blindsave.policies import resolve, shipped

    family = [one for one in shipped() if one.partition("/")[0] == name]
    found = [resolve(one) for one in family or [name]]
    if any(getattr(one.policy, "privileged", False) for one in found):
        raise BadInput(f"{name} reads the truth and has no memory to exchange")
    return found


def _line(rows: Sequence[Row]) -> list[str]:
    """One moment of all policies."""
    undisturbed = "as usual" if rows[0]["how"] == "hold" else "never"
    first = undisturbed if rows[0]["hidden_ms"] is None else f"{rows[0]['hidden_ms']} ms"
    return [first, *(f"{100 * row['rate']['estimate']:.1f}" for row in rows)]


def _row(swap: Any, milliseconds: Any) -> Row:
    return {**asdict(swap), "hidden_ms": None if swap.step is None else milliseconds(swap.step)}
