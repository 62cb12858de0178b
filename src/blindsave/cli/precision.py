"""The command that plays teachers in two precisions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import at_least_one, print_table
from blindsave.cli.targets import OutFile
from blindsave.errors import BadInput
from blindsave.progress import Progress


@dataclass(frozen=True)
class BenchPrecision:
    """Play teachers in float32, as we do, and in bfloat16, as their training and the authors do: what changes?

    Deterministic, validation shots, hidden for 0 to 400 ms.
    """

    teachers: tyro.conf.Positional[tuple[str, ...]] = ("teacher",)
    """Teachers: `teacher`, files, or folders that hold one (models/teachers/faithful_7304)."""
    shots: int | None = None
    """Only so many shots, for a trial."""
    out: OutFile | None = None
    """Also keep the figures in this JSON file."""

    def run(self) -> dict[str, Any]:
        """Play every teacher twice."""
        from blindsave import store
        from blindsave.bench.precision import in_both
        from blindsave.diagnostics.teacher_files import find_teachers
        from blindsave.learning.dreamer.validate import LENGTHS
        from blindsave.policies.dreamer import AgentShape
        from blindsave.policies.files import read_policy
        from blindsave.task.conditions import grid
        from blindsave.task.shots import shots

        if self.shots is not None:
            at_least_one(shots=self.shots)
        found, episodes = find_teachers(self.teachers), grid(shots("validation")[: self.shots], LENGTHS)
        read = {one.name: read_policy(one.file) if one.file is not None else ({}, {}) for one in found}
        strange = next((name for name, (_, about) in read.items() if "shape" not in about), None)
        if strange is not None:
            raise BadInput(f"{strange} is no frozen teacher of `blindsave teacher freeze`, and has one precision")
        played = {}
        with Progress("teachers", len(found)) as bar:
            for one in found:
                parameters, about = read[one.name]
                played[one.name] = {"sha256": one.sha256} | in_both(parameters, AgentShape(**about["shape"]), episodes)
                bar.advance(remark=one.name)
        result = {"teachers": played} | store.provenance()
        if self.out is not None:
            store.write_json(Path(self.out), result)
        return result

    def show(self, result: dict[str, Any]) -> None:
        """Print saves by blackout in both, and what changed."""
        rows = []
        for name, one in result["teachers"].items():
            for precision, changed in (("float32", ""), ("bfloat16", f"+{one['gained']} -{one['lost']}")):
                played = one[precision]
                cells = [f"{100 * rate:.1f}" for rate in played["save_rate_by_length"].values()]
                rows.append([f"{name}, {precision}", *cells, str(played["saves"]), changed])
        heads = ["teacher", "0 ms", "100", "200", "300", "400", "saves", "changed"]
        print_table("saves on validation shots (%), by how long the puck is hidden", heads, rows)
