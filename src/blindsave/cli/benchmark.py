"""The command that measures a memory core."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from blindsave.cli.shared import Threads, print_table, tell
from blindsave.cli.targets import OutFile, OutFolder, refuse_unwritable


@dataclass(frozen=True)
class Benchmark:
    """Train a memory core at a small budget and measure it: the paper's task, the memory horizon, tracker faults.

    Writes one page with its curves beside those of reference cores that had the same lessons, and beside classical
    filters. The same core gives the same bytes. docs/remember.md explains what is measured.
    """

    core: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...")]
    """One or more families: shipped ones, other sizes of them, or those of a --plugin. The names of classical policies
    (kalman, planner, ...) are played, not trained."""
    out: OutFolder | None = None
    """Where page, figures and students go; runs/benchmark/NAME by default."""
    trial: bool = False
    """Everything at a toy budget, in seconds: does my core run? Its figures say nothing."""
    references: Path | None = None
    """Another file of references than the shipped one."""
    add_to: OutFile | None = None
    """Also put the figures into this file of references, in place of those of the same name."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Train, play, draw."""
        from blindsave.benchmark import page, references
        from blindsave.benchmark.budget import STANDARD, TRIAL
        from blindsave.benchmark.readings import summary
        from blindsave.policies.students.registry import family
        from blindsave.store import write_whole

        families = {name: None if name in references.CLASSICAL else family(name) for name in self.core}
        budget = TRIAL if self.trial else STANDARD
        out = self.out or Path("runs/benchmark") / "_".join(families)
        refuse_unwritable(out, "folder")
        beside = [] if self.trial else references.read(self.references or references.file(), budget)
        shelf = [] if self.add_to is None else references.read(self.add_to, budget)
        found = self._figures(families, budget, out)
        files = [references.write(out / "benchmark.json", budget, found)]
        files.append(write_whole(out / "index.html", page.page(found, beside, budget)))
        if self.add_to is not None:
            files.append(references.write(self.add_to, budget, references.merged(shelf, found)))
        return {
            "cores": [summary(one) for one in found],
            "references": [summary(one) for one in beside if one["core"] not in families],
            "curves": found,
            "page": str(out / "index.html"),
            "files": [str(path) for path in files],
        }

    def _figures(self, families: dict[str, Any], budget: Any, out: Path) -> list[dict[str, Any]]:
        from blindsave.benchmark.trials import Data, classical, trial

        data, found = None, []
        for name, kind in families.items():
            if kind is None:
                found.append(classical(name, budget, self.threads))
                continue
            if data is None:
                tell("the teachers play")
                data = Data(budget, self.threads)
            made = trial(kind, data, tell)
            found.append(made.figures)
            for task, students in (("paper", made.paper), ("memory", made.memory)):
                for student in students:
                    student.save(out / "students" / task / name / f"{student.provenance.seed}.safetensors")
        return found

    def show(self, result: dict[str, Any]) -> None:
        """Print the summary, one line per core."""
        rows = []
        for told in (*result["cores"], *result["references"]):
            reach = "none" if told["horizon_ms"] is None else f"{told['horizon_ms']} ms"
            size = f"{told['parameters']:,}" if told["parameters"] else "-"
            rates = (told["saved"], told["worst_fault_saved"])
            rows.append(
                [told["core"], size, reach, f"{told['bits'][-1]:.2f}", *(f"{100 * rate:.1f}" for rate in rates)]
            )
        heads = ["core", "parameters", "horizon", "bits", "saved, 400 ms hidden", "under the worst fault"]
        print_table("what was asked comes first, references follow", heads, rows)
        print(f"page: {result['page']}")
