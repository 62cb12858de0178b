"""Data flows one way through the packages; the order below is the one of README and CONTRIBUTING."""

import ast
import re
from pathlib import Path

import blindsave
from blindsave.evidence.freeze import DECIDING

SOURCE = Path(blindsave.__file__).parent
ORDER = (
    "errors",
    "registration",
    "plugins",
    "store",
    "toml_values",
    "tensors",
    "progress",
    "engine",
    "arena",
    "draw",
    "task",
    "policies",
    "learning",
    "evidence",
    "verify",
    "testing",
    "diagnostics",
    "bench",
    "deploy",
    "drive",
    "report",
    "submissions",
    "benchmark",
    "play",
    "stages",
    "study",
    "worker",
    "cli",
    "__main__",
)
DESCRIBING = (
    "draw",
    "verify",
    "testing",
    "diagnostics",
    "bench",
    "deploy",
    "drive",
    "report",
    "submissions",
    "benchmark",
    "play",
    "cli",
)


def top(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "blindsave":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("blindsave."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("blindsave.")}
    return found & set(ORDER)


def included(path: Path) -> set[str]:
    """The packages whose C headers a file includes by their path in the source tree."""
    return {name.split("/")[0] for name in re.findall(r'#include "([^"]+)"', path.read_text("utf-8")) if "/" in name}


def against_the_flow() -> list[str]:
    found = []
    for path in sorted(SOURCE.rglob("*")):
        if path == SOURCE / "__init__.py" or path.suffix not in {".py", ".c", ".h", ".inc"}:
            continue
        used = imported(path) if path.suffix == ".py" else included(path)
        below = [name for name in used if ORDER.index(name) > ORDER.index(top(path))]
        found += [f"{path.relative_to(SOURCE)} uses {name}" for name in sorted(below)]
    return found


def test_every_package_has_its_place():
    tops = {top(path) for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert tops - {"__init__"} == set(ORDER)


def test_no_import_goes_against_the_flow():
    assert against_the_flow() == []


def test_what_decides_uses_nothing_that_describes():
    bound = {name.removesuffix(".py") for name in DECIDING}
    files = [path for path in SOURCE.rglob("*.py") if top(path) in bound]
    leaks = {f"{path.relative_to(SOURCE)} uses {name}" for path in files for name in imported(path) & set(DESCRIBING)}
    # Showing an environment to a person is part of Gymnasium's interface; nothing comes back from it.
    assert leaks <= {"task/env.py uses draw", "task/vector.py uses draw"}
