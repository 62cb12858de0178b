"""Commands that measure policies in whole numbers and on microcontrollers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

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
                [name, *(f"{100 * cells[b]['estimate']:.2f}" for b in lengths)]
                for name, cells in found["rates"].items()
            ]
            print_table(f"{result['split']}: saves in %, by hidden control steps", ["policy", *lengths], rows)
            rows = [[name, *(_points(cells[b]) for b in lengths)] for name, cells in found["differences"].items()]
            print_table("minus float, points [95 %], * equivalent within 2", ["policy", *lengths], rows)


def _points(cell: dict[str, Any]) -> str:
    mark = "*" if cell["equivalent"] else ""
    return f"{100 * cell['estimate']:+.2f} [{100 * cell['low']:+.1f}, {100 * cell['high']:+.1f}]{mark}"


@dataclass(frozen=True)
class BenchBoard:
    """Run policies on emulated microcontrollers: flash, memory and instructions per step, self-test included."""

    policies: tyro.conf.Positional[tuple[str, ...]] = ("structured_k0/14303",)
    """`FAMILY/SEED` or policy files."""
    boards: tuple[str, ...] = ()
    """m0, m3, m4, m7; all by default."""
    optimise: Literal["-Os", "-O2"] = "-Os"
    """What the compiler is told."""

    def run(self) -> dict[str, Any]:
        """Export, compile and emulate every version of every policy."""
        import tempfile

        from blindsave.deploy import boards
        from blindsave.deploy.c_header import export_c
        from blindsave.deploy.calibration import recorded
        from blindsave.deploy.integer_header import export_integers
        from blindsave.deploy.integers import WEIGHT_LIMIT
        from blindsave.deploy.quantise import integer_policy
        from blindsave.policies import load
        from blindsave.store import provenance

        for name in self.boards:
            if name not in boards.BOARDS:
                raise BadInput(f"there is no board `{name[:40]}`; boards: {', '.join(boards.BOARDS)}")
        chosen = {name: boards.BOARDS[name] for name in self.boards or boards.BOARDS}
        policies: list[Any] = [load(name) for name in self.policies]
        boards.need_tools()
        found: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder:
            for policy in policies:
                seen = recorded(policy)
                exports = {"float": export_c(policy, Path(folder))}
                for kind in WEIGHT_LIMIT:
                    whole = integer_policy(policy, kind, seen)
                    exports[kind] = export_integers(whole, Path(folder))
                found[policy.name] = {
                    numbers: {name: boards.measure(export, board, self.optimise) for name, board in chosen.items()}
                    for numbers, export in exports.items()
                }
        fine = all(cell["ok"] for one in found.values() for row in one.values() for cell in row.values())
        machines = {name: {"processor": b.processor, "machine": b.machine} for name, b in chosen.items()}
        result = {"policies": found, "boards": machines, "optimise": self.optimise, **boards.tools()}
        return result | {"ok": fine, **provenance()}

    def show(self, result: dict[str, Any]) -> None:
        """Print one row per policy, numbers and board."""
        wanted = ("flash_bytes", "state_bytes", "stack_bytes", "instructions_per_step")
        rows = [
            [f"{policy}, {numbers}", result["boards"][name]["processor"], *(f"{cell[key]:,}" for key in wanted)]
            for policy, versions in result["policies"].items()
            for numbers, cells in versions.items()
            for name, cell in cells.items()
        ]
        print_table("", ["policy", "processor", "flash", "state", "stack", "instructions per step"], rows)
        tests = {
            cell["self_test"] for one in result["policies"].values() for row in one.values() for cell in row.values()
        }
        print("\n".join(sorted(tests)))
        print(f"{result['compiler']}, {result['emulator']}, {result['optimise']}")
