"""Commands that measure policies in whole numbers and on microcontrollers."""

from dataclasses import dataclass
from typing import Any

from blindsave.cli.shared import Threads, print_table, whole_numbers
from blindsave.errors import BadInput
from blindsave.progress import Progress


@dataclass(frozen=True)
class BenchIntegers:
    """Compare students in float, int16 and int8 on the same shots: saves by blackout, differences with intervals."""

    families: tuple[str, ...] = ("structured_k0",)
    """Families; shipped finals are taken."""
    seeds: tuple[int, ...] = (14303, 14304, 14305, 14306, 14307)
    """Training seeds."""
    split: str = "validation"
    """Which shots."""
    blackouts: str = "0,5,10,15,20,25"
    """Control steps (20 ms each) for which the puck is hidden."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play every version of every student."""
        from blindsave.deploy.integer_saves import METHOD, compare
        from blindsave.deploy.integers import WEIGHT_LIMIT
        from blindsave.evidence.schedule import schedule
        from blindsave.policies.catalog import resolve
        from blindsave.store import provenance

        if not self.families or not self.seeds:
            raise BadInput("name at least one family and one training seed")
        if len(set(self.seeds)) < len(self.seeds):
            raise BadInput("a training seed is named twice")
        chosen = schedule(self.split, whole_numbers(self.blackouts, "--blackouts"))
        for family in self.families:
            for seed in self.seeds:
                resolve(f"{family}/{seed}")
        total = len(self.families) * len(self.seeds) * (1 + len(WEIGHT_LIMIT)) * len(chosen)
        with Progress(f"playing {self.split}", total) as bar:
            found = {name: compare(name, self.seeds, chosen, self.threads, bar.advance) for name in self.families}
        return {"families": found, "split": self.split, "method": METHOD, **provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print rates, and differences in points."""
        for found in result["families"].values():
            lengths = list(next(iter(found["rates"].values())))
            rows = [
                [name, *(f"{100 * cells[b]['estimate']:.2f}" for b in lengths)] for name, cells in found["rates"].items()
            ]
            print_table(f"{result['split']}: saves in %, by hidden control steps", ["policy", *lengths], rows)
            rows = [[name, *(_points(cells[b]) for b in lengths)] for name, cells in found["differences"].items()]
            print_table("minus float, points [95 %], * equivalent within 2", ["policy", *lengths], rows)


def _points(cell: dict[str, Any]) -> str:
    mark = "*" if cell["equivalent"] else ""
    return f"{100 * cell['estimate']:+.2f} [{100 * cell['low']:+.1f}, {100 * cell['high']:+.1f}]{mark}"
