"""Commands about students: what they cost, how fast they are, and how to export one."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import tyro

from blindsave.cli.shared import facts, print_table
from blindsave.cli.targets import OutFolder
from blindsave.errors import BadInput

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True)
class Families:
    """Sizes of every registered family and classical rival, or of those named, and the rank of nonlinear memories."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Only these families or rivals; other sizes and widths are named like `structured_k0_n32`, `gru_n16_e32_h16`."""
    trained: bool = False
    """Take the rank from the shipped final students (training seed 14303) instead of random parameters."""

    def run(self) -> dict[str, Any]:
        """Count every family; the rank needs JAX and is null without it, and for cores without a linear part A."""
        from blindsave.policies.classical.costs import rival_costs
        from blindsave.policies.students import families, family
        from blindsave.policies.students.accounting import cost_table

        rivals = rival_costs(self.names) if self.names else rival_costs()
        wanted = {n: family(n) for n in self.names if n not in rivals} if self.names else families()
        table: dict[str, dict[str, Any]] = {name: dict(row) for name, row in cost_table(wanted).items()}
        for name, kind in wanted.items():
            table[name]["jacobian_rank"] = self._rank(kind)
        return {"families": table, "rivals": rivals}

    def _rank(self, family: Any) -> int | None:
        try:
            from blindsave.learning.distil.rank import jacobian_rank
        except ModuleNotFoundError:
            return None
        params = family.init(14303)
        if self.trained and family.core.recurrent:
            from blindsave.policies.catalog import student_file
            from blindsave.policies.students.student import load_student

            if student_file(family.name, 14303).is_file():
                params = load_student(student_file(family.name, 14303)).parameters
        return jacobian_rank(family, params)

    def show(self, result: dict[str, Any]) -> None:
        """Print the table."""
        _show(result["families"] | {name: {**row, "jacobian_rank": None} for name, row in result["rivals"].items()})


@dataclass(frozen=True)
class BenchLatency:
    """Time one policy step, batch one: our C kernel (native loop and from Python), NumPy, ONNX Runtime, torch."""

    families: tuple[str, ...] = ()
    """Families or classical rivals to time; all seven of the paper by default."""
    seeds: tuple[int, ...] = (14303, 14304, 14305, 14306, 14307)
    """Training seeds: shipped finals where they exist, else fresh parameters (the time does not depend on them)."""
    calls: int = 10_000
    """Calls per timed block, and of the warm-up."""
    blocks: int = 10
    """Timed blocks."""
    cpu: int = 0
    """Logical CPU to stay on, where the system allows pinning."""

    def run(self) -> dict[str, Any]:
        """Measure every family and seed on one pinned CPU with one thread."""
        if self.calls < 1 or self.blocks < 1 or not self.seeds:
            raise BadInput("calls, blocks and seeds must be at least one")
        for variable in THREAD_VARIABLES:  # before NumPy is imported, else its BLAS does not listen
            os.environ.setdefault(variable, "1")
        import numpy as np

        from blindsave import store
        from blindsave.bench import latency
        from blindsave.policies import native
        from blindsave.policies.students import PAPER_FAMILIES

        protocol = latency.Protocol(self.calls, self.blocks, self.calls)
        result: dict[str, Any] = {"families": {}}
        # Plain NumPy, one of the runtimes timed, computes gates with an exp that may overflow to the right limit.
        with np.errstate(over="ignore"), latency.pinned(self.cpu) as pinned:
            for name in self.families or PAPER_FAMILIES:
                per_seed = [self._measure(name, seed, protocol) for seed in self.seeds]
                result["families"][name] = latency.summarise(per_seed)
        return result | {
            "protocol": asdict(protocol) | {"seeds": list(self.seeds), "pinned": pinned, "cpu": self.cpu},
            "kernel_path": (native.paths() or ["reference"])[0],
            "clock": latency.clock_facts(self.cpu),
            "threads": {name: os.environ.get(name) for name in THREAD_VARIABLES},
            **store.provenance(),
        }

    @staticmethod
    def _measure(name: str, seed: int, protocol: Any) -> Any:
        from blindsave.bench import latency
        from blindsave.policies import catalog
        from blindsave.policies.classical.rivals import RIVALS, rival
        from blindsave.policies.students.student import Student, load_student

        file = catalog.student_file(name, seed)
        if name in RIVALS:
            student = rival(name)
        else:
            student = load_student(file) if file.is_file() else Student.untrained(name, seed)
        try:
            from blindsave.deploy.onnx_graph import onnx_model

            model = onnx_model(student.program, student.name).SerializeToString()
        except ModuleNotFoundError:
            model = None
        return latency.measure(student, protocol, model)

    def show(self, result: dict[str, Any]) -> None:
        """Print medians and ratios."""
        names = ("native", "python", "numpy", "onnxruntime", "torch", "python_p99", "python_worst")
        keep = (*(f"{name}_us" for name in names), "numpy_over_native", "numpy_over_python")
        rows = {n: {k: round(r[k], 2) for k in keep if k in r} for n, r in result["families"].items()}
        _show(rows)


@dataclass(frozen=True)
class Export:
    """Write a policy as one C99 header with a self-test, with the loop of `drive` beside it, or as an ONNX graph."""

    policy: tyro.conf.Positional[str]
    """`FAMILY/SEED` (a shipped student), `teacher`, or a policy file."""
    out: OutFolder = Path("out")
    """Folder for the files."""
    format: Literal["c", "drive", "onnx"] = "c"
    """What to write; `drive` is C and the loop that runs it against a robot."""
    numbers: Literal["float", "int16", "int8"] = "float"
    """What the C computes with; weights of 16 or 8 bits need no floating-point unit."""

    def run(self) -> dict[str, Any]:
        """Export, check the export against the policy, and report files and sizes."""
        from blindsave.policies import load

        if self.format == "onnx" and self.numbers != "float":
            raise BadInput(f"whole numbers are exported as C, so --numbers {self.numbers} needs --format c or drive")
        policy: Any = load(self.policy)
        report: dict[str, Any] = {"policy": policy.name, "format": self.format, "numbers": self.numbers}
        report |= self._onnx(policy) if self.format == "onnx" else self._c(policy)
        return report | {"ok": report["self_test"]["passed"] is not False}

    def _c(self, policy: Any) -> dict[str, Any]:
        from blindsave.deploy.toolchain import arm_size, self_test_report
        from blindsave.drive.sources import write_policy, write_sources

        write = write_sources if self.format == "drive" else write_policy
        sources = write(policy, self.out, self.numbers, _provenance(policy))
        export = sources.export
        files = [{"path": str(path), "bytes": path.stat().st_size} for path in sources.files]
        sizes = {
            "constant_bytes": export.constant_bytes,
            "stack_bytes": export.stack_bytes,
            "state_bytes": export.state_bytes,
            "cortex_m4": arm_size(export),
        }
        return {"files": files, "sizes": sizes, "self_test": self_test_report(export)}

    def _onnx(self, policy: Any) -> dict[str, Any]:
        from blindsave.deploy.onnx_graph import AGREEMENT, export_onnx, onnx_error

        path = export_onnx(policy, self.out)
        error = onnx_error(path, policy)
        files = [{"path": str(path), "bytes": path.stat().st_size}]
        sizes = {"constant_bytes": 4 * sum(a.size for a in policy.program.constants)}
        return {
            "files": files,
            "sizes": sizes,
            "self_test": {"passed": None if error is None else error <= AGREEMENT, "max_error": error},
        }

    def show(self, result: dict[str, Any]) -> None:
        """Print the files and what the self-test said."""
        for file in result["files"]:
            print(f"{file['path']}  {file['bytes']} bytes")
        test = result["self_test"]
        said = test.get("message") or ", ".join(f"{name} {text}" for name, text in facts(test).items())
        print(f"self-test: {said}")
        if not result["ok"]:
            print(f"FAILED: what was written to {self.out} is not {result['policy']}")


def _provenance(policy: Any) -> str:
    known = getattr(policy, "provenance", None)
    if known is None:
        return ""
    return f"Training seed {known.seed}, stage {known.stage}, data {known.dataset or 'none'}."


def _show(families: dict[str, dict[str, Any]]) -> None:
    columns = ["family", *(column.replace("_", " ") for column in next(iter(families.values())))]
    cells = {name: ["-" if value is None else f"{value:,}" for value in row.values()] for name, row in families.items()}
    print_table("", columns, [[name, *row] for name, row in cells.items()])
