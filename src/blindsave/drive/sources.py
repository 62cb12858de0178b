"""The loop's sources beside an exported header, and the program a C compiler makes of them."""

import subprocess
import zlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from blindsave.deploy.c_header import CExport, export_c
from blindsave.deploy.calibration import in_integers
from blindsave.deploy.integer_header import export_integers
from blindsave.deploy.toolchain import WARNINGS, compiler
from blindsave.errors import BadInput
from blindsave.store import write_whole

Numbers = Literal["float", "int16", "int8"]
PURE, POSIX = ("drive.h", "drive.c"), "posix.c"
GLUE = """\
/* The policy that drive.c runs: {name}. Written by blindsave beside {header}. */
#ifndef BLINDSAVE_DRIVE_POLICY_H
#define BLINDSAVE_DRIVE_POLICY_H

#include "{header}"

#define DRIVE_POLICY_ID 0x{identity:08X}u /* CRC-32 of that header: a log replays with the policy that made it */

typedef {prefix}_state drive_policy;

static inline void drive_policy_reset(drive_policy *policy) {{ {prefix}_reset(policy); }}

static inline void drive_policy_step(drive_policy *policy, const float *observation, float *action) {{
    {prefix}_{step}(policy, observation, action);
}}

#endif
"""


@dataclass(frozen=True)
class Sources:
    """A folder with everything a loop is compiled from."""

    folder: Path
    export: CExport
    files: tuple[Path, ...]


def write_policy(policy: Any, folder: Path, numbers: Numbers = "float", provenance: str = "") -> Sources:
    """Write the policy's header and its self-test."""
    if numbers == "float":
        export = export_c(policy, Path(folder), provenance)
    else:
        export = export_integers(in_integers(policy, numbers), Path(folder), provenance)
    return Sources(Path(folder), export, (export.header, export.self_test))


def write_sources(policy: Any, folder: Path, numbers: Numbers = "float", provenance: str = "") -> Sources:
    """Write the policy's header and self-test, the loop, and the few lines that join them."""
    written = write_policy(policy, folder, numbers, provenance)
    export = written.export
    text = GLUE.format(
        name=policy.name,
        header=export.header.name,
        prefix=export.prefix,
        step="step" if numbers == "float" else "step_float",
        identity=zlib.crc32(export.header.read_bytes()),
    )
    glue = write_whole(written.folder / "drive_policy.h", text)
    loop = files("blindsave.drive") / "loop"
    copied = [write_whole(written.folder / name, (loop / name).read_text("utf-8")) for name in (*PURE, POSIX)]
    return Sources(written.folder, export, (*written.files, glue, *copied))


def build(sources: Sources, *flags: str) -> Path:
    """Compile the loop for this machine."""
    cc = compiler()
    if cc is None:
        raise BadInput("the loop is compiled where it runs, and no C compiler was found")
    program = sources.folder / "drive"
    units = [str(sources.folder / name) for name in ("drive.c", POSIX)]
    command = [cc, *WARNINGS, *(flags or ("-O2",)), "-o", str(program), *units]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        raise BadInput(f"the loop could not be compiled: {built.stderr.strip()[:400]}")
    return program
