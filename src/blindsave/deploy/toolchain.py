"""Compile exported headers with whatever compilers this machine has: run the self-test, measure the size on ARM."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from blindsave.deploy.c_header import CExport

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
CORTEX_M = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-Os")
"""A common microcontroller with a single-precision unit."""


def compiler() -> str | None:
    """The first C compiler found."""
    return next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)


def run_self_test(export: CExport, cc: str, *flags: str, runner: tuple[str, ...] = ()) -> subprocess.CompletedProcess:
    """Compile the self-test and run it, if need be under an emulator; the result says what happened."""
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "selftest"
        command = [cc, *WARNINGS, *(flags or ("-O2",)), "-o", str(binary), str(export.self_test), "-lm"]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode:
            return built
        return subprocess.run([*runner, str(binary)], capture_output=True, text=True, timeout=120)


def arm_size(export: CExport, cc: str = "arm-none-eabi-gcc") -> dict[str, int] | None:
    """Bytes of code and of constants on a Cortex-M4 with the header's step alone; None without the compiler."""
    size = shutil.which(re.sub(r"gcc$", "size", cc))
    if not shutil.which(cc) or size is None:
        return None
    prefix = export.prefix
    source = (
        f'#include "{export.header.name}"\n'
        f"void policy_step({prefix}_state *s, const {export.number} *o, {export.number} *a);\n"
        f"void policy_step({prefix}_state *s, const {export.number} *o, {export.number} *a) {{\n"
        f"    {prefix}_step(s, o, a);\n}}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        unit, result = Path(folder) / "unit.c", Path(folder) / "unit.o"
        unit.write_text(source)
        command = [cc, *WARNINGS, *CORTEX_M, "-I", str(export.header.parent), "-c", str(unit), "-o", str(result)]
        subprocess.run(command, check=True, capture_output=True)
        report = subprocess.run([size, "-A", str(result)], check=True, capture_output=True, text=True).stdout
    sections = {name: int(count) for name, count in re.findall(r"^(\.\S+)\s+(\d+)", report, re.MULTILINE)}
    return {
        "code_bytes": sum(v for k, v in sections.items() if k.startswith(".text")),
        "constant_bytes": sum(v for k, v in sections.items() if k.startswith(".rodata")),
        "static_ram_bytes": sum(v for k, v in sections.items() if k.startswith((".data", ".bss"))),
        "stack_bytes": export.stack_bytes,
        "state_bytes": export.state_bytes,
    }


def self_test_report(export: CExport) -> dict[str, Any]:
    """What the export command says: was the header compiled here, and did every bit agree?"""
    cc = compiler()
    if cc is None:
        return {"compiled": False, "passed": None, "message": "no C compiler was found", "max_error": None}
    result = run_self_test(export, cc)
    passed = result.returncode == 0
    message = (result.stdout or result.stderr).strip()
    return {"compiled": True, "passed": passed, "message": message, "max_error": 0.0 if passed else None}
