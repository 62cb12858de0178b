"""The command that draws small studies from a large one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import at_least_one, print_table, whole_numbers
from blindsave.errors import BadInput
from blindsave.progress import Progress

WAYS = ("bootstrap", "mrmc")
TOLD = (
    ("held", "hold it, %", 1),
    ("half_width", "half-width, points", 2),
    ("equivalent", "equal within 2 points, %", 1),
)


@dataclass(frozen=True)
class BenchSmallStudies:
    """Draw studies of few training seeds and 225 shots from a played one with many: how far off are they?

    Takes the large study as the truth and counts how often intervals of the small ones hold it.
    """

    table: tyro.conf.Positional[Path]
    """Episode table of a study with many training seeds."""
    a: str = "gru_n64"
    """First family of the difference."""
    b: str = "structured_k0"
    """Second family."""
    blackout: int = 20
    """Blackout length in control steps of 20 ms."""
    seeds: str = "3,5,10"
    """Training seeds of the small studies."""
    studies: int = 4000
    """Small studies of each size."""
    replicates: int = 1000
    """Bootstrap replicates per study."""

    def run(self) -> dict[str, Any]:
        """Draw and count."""
        from blindsave.bench.small_studies import played, small_studies
        from blindsave.evidence import tables
        from blindsave.evidence.saves import saves

        at_least_one(studies=self.studies, replicates=self.replicates)
        if self.a == self.b:
            raise BadInput(f"a difference is of two policies; --a and --b are both {self.a}")
        sizes, held = whole_numbers(self.seeds, "--seeds"), saves(tables.read(self.table))
        sources = [played(held, self.a, self.b, self.blackout, seeds) for seeds in sizes]
        found = []
        with Progress("sizes of studies", len(sources)) as bar:
            for source in sources:
                found.append(small_studies(source, self.studies, self.replicates))
                bar.advance(remark=f"{source.seeds} seeds")
        asked = {"a": self.a, "b": self.b, "blackout": self.blackout}
        return asked | {"sizes": found, "studies": self.studies, "replicates": self.replicates}

    def show(self, result: dict[str, Any]) -> None:
        """Print points and shares."""
        rows = []
        for one in result["sizes"]:
            cells = [" / ".join(f"{100 * one[way][name]:.{digits}f}" for way in WAYS) for name, _, digits in TOLD]
            rows.append([str(one["seeds"]), f"{100 * one['sd']:.2f}", *cells])
        true = 100 * result["sizes"][0]["difference"]
        print(f"{self.a} - {self.b}, hidden for {20 * self.blackout} ms: {true:+.2f} points in the whole table")
        title = f"{self.studies} studies of 225 shots drawn from it, bootstrap / MRMC"
        print_table(title, ["seeds", "sd, points", *(head for _, head, _ in TOLD)], rows)
