"""What a policy takes of a microcontroller: flash, memory and instructions, measured in an emulator (QEMU).

Instructions are counted, not cycles: the emulator knows no pipeline and no wait states. Needs `arm-none-eabi-gcc` with
newlib and `qemu-system-arm`, which are Debian packages.
"""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from blindsave.deploy.c_header import CExport
from blindsave.deploy.toolchain import WARNINGS
from blindsave.errors import BadInput

CC, SIZE, QEMU = "arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm"
PACKAGES = "qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi"
LINK = ("-nostartfiles", "-Wl,--gc-sections", "-ffunction-sections", "-fdata-sections")
STEPS = 50
LONGEST_S = 120
POLICY_H = """\
#include "{header}"
#define POLICY_STATE {prefix}_state
#define POLICY_NUMBER {number}
#define policy_reset {prefix}_reset
#define policy_step {prefix}_step
"""


@dataclass(frozen=True)
class Board:
    """A processor, the emulated machine that has it, and how fast that machine's SysTick counts."""

    processor: str
    flags: tuple[str, ...]
    machine: str
    systick_mhz: int
    floating_point: bool


BOARDS = {
    "m0": Board("Cortex-M0", ("-mcpu=cortex-m0", "-mfloat-abi=soft"), "mps2-an385", 25, False),
    "m3": Board("Cortex-M3", ("-mcpu=cortex-m3", "-mfloat-abi=soft"), "mps2-an385", 25, False),
    "m4": Board("Cortex-M4F", ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"), "mps2-an386", 25, True),
    "m7": Board("Cortex-M7", ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"), "mps2-an500", 25, True),
}
"""The M0's code runs on an emulated M3, which knows all its instructions and counts them in the same way."""


def missing_tools() -> list[str]:
    """What would have to be installed."""
    return [tool for tool in (CC, SIZE, QEMU) if shutil.which(tool) is None]


def need_tools() -> None:
    """Refuse, with what to install, where something is missing."""
    if missing := missing_tools():
        raise BadInput(f"{', '.join(missing)} not found: apt-get install {PACKAGES}")


def tools() -> dict[str, str]:
    """Which compiler and emulator measured."""
    said = [subprocess.run([tool, "--version"], capture_output=True, text=True).stdout for tool in (CC, QEMU)]
    return dict(zip(("compiler", "emulator"), (text.partition("\n")[0] for text in said), strict=True))


def measure(export: CExport, board: Board, optimise: str) -> dict[str, Any]:
    """Flash, memory and instructions of one exported policy on one board; the self-test must pass there."""
    source = files("blindsave.deploy") / "board"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in ("start.c", "measure.c", "alone.c", "memory.inc"):
            (folder / file).write_text((source / file).read_text("utf-8"))
        shutil.copy(export.header, folder)
        text = POLICY_H.format(header=export.header.name, prefix=export.prefix, number=export.number)
        (folder / "policy.h").write_text(text)
        test = export.self_test.read_text().replace("int main(void)", "int self_test(void);\nint self_test(void)")
        (folder / "self_test.c").write_text(test)
        flags = [*board.flags, "-mthumb", optimise, *WARNINGS, *LINK, "-T", "memory.inc"]
        alone = _compiled(folder, "alone.elf", ["alone.c", "start.c", *flags, "--specs=nano.specs"])
        timed = ["self_test.c", "measure.c", "start.c", f"-DSTEPS_TIMED={STEPS}", *flags, "--specs=rdimon.specs"]
        run = _emulated(_compiled(folder, "measure.elf", timed), board)
        sizes = _sizes(alone)
    said = re.search(r"stack (\d+) ticks (\d+)", run.stdout)
    if said is None:
        raise BadInput(f"the emulated {board.processor} said: {(run.stdout + run.stderr).strip()[:300]}")
    return {
        "flash_bytes": sizes[".text"] + sizes[".data"],
        "state_bytes": export.state_bytes,
        "stack_bytes": int(said[1]),
        "instructions_per_step": round(int(said[2]) * 1000 / board.systick_mhz / STEPS),
        "self_test": run.stdout.splitlines()[0],
        "ok": run.returncode == 0,
    }


def _compiled(folder: Path, name: str, words: list[str]) -> Path:
    built = subprocess.run([CC, *words, "-o", name], cwd=folder, capture_output=True, text=True)
    if built.returncode:
        raise BadInput(f"{CC} failed: {built.stderr.strip()[:400]}")
    return folder / name


def _emulated(image: Path, board: Board) -> subprocess.CompletedProcess[str]:
    words = [QEMU, "-M", board.machine, "-nographic", "-monitor", "none", "-serial", "none", "-icount", "shift=0"]
    words += ["-semihosting-config", "enable=on,target=native", "-kernel", str(image)]
    try:
        return subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        raise BadInput(f"the emulated {board.processor} did not end within {LONGEST_S} s") from None


def _sizes(image: Path) -> dict[str, int]:
    report = subprocess.run([SIZE, "-A", str(image)], check=True, capture_output=True, text=True).stdout
    found = {name: int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", report, re.MULTILINE)}
    return {".text": 0, ".data": 0} | found
