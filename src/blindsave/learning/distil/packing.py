"""Take the students of a work folder elsewhere: one archive of policies, metrics, manifests and counts."""

import contextlib
import io
import lzma
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.policies.catalog import models_folder

CHECKPOINTS = "checkpoints"
KEPT = ("students/*/*", "dataset/*/manifest.json", "summary/*.json", f"{CHECKPOINTS}/*.safetensors")
"""Everything but the episodes themselves, which are large and can be collected again."""


def pack(work: Path, out: Path, *, limit_mib: float = 15.5) -> list[Path]:
    """Write the archive, also while the work goes on; refuses to exceed the limit.

    Checkpoints are left out, and this is said, where they do not fit: they save time, students are results.
    """
    chosen = packed_files(work)
    if not chosen:
        raise BadInput(f"{work} holds no students yet")
    whole = _archive(work, chosen)
    if len(whole) > limit_mib * 2**20:
        finished = [path for path in chosen if path.parent.name != CHECKPOINTS]
        if finished and len(finished) < len(chosen):
            whole = _archive(work, finished)
            print(f"blindsave: {out} is without the checkpoints of {work}, which do not fit", file=sys.stderr)
    if len(whole) > limit_mib * 2**20:
        raise BadInput(f"the archive would have {len(whole) / 2**20:.1f} MiB, more than {limit_mib}")
    return [store.write_whole(out, whole)]


def packed_files(work: Path) -> list[Path]:
    """What of a work folder travels; nothing unfinished."""
    found = sorted(path for pattern in KEPT for path in work.glob(pattern) if path.is_file())
    return [path for path in found if store.TEMPORARY not in path.relative_to(work).as_posix()]


def _archive(work: Path, files: Sequence[Path]) -> bytes:
    """The files as they are now; a checkpoint whose training has ended in the meantime is not missed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:xz", preset=3) as archive:
        for path in files:
            with contextlib.suppress(FileNotFoundError):
                content, entry = path.read_bytes(), tarfile.TarInfo(path.relative_to(work).as_posix())
                entry.size, entry.mtime = len(content), int(path.stat().st_mtime)
                archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def unpack(pack: Path, work: Path) -> list[Path]:
    """Put an archive's files back into a work folder and verify every students artifact."""
    try:
        with tarfile.open(pack) as archive:
            archive.extractall(work, filter="data")
            names = archive.getnames()
    except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise BadFile(f"{pack} is not a whole archive ({error})") from error
    for manifest in sorted(work.glob("students/*/manifest.json")):
        store.open_artifact(manifest.parent)
    return [work / name for name in names]


def ship(work: Path, models: Path | None = None) -> list[Path]:
    """Copy the finals of every finished family to `models/students/FAMILY/SEED.safetensors`."""
    target = (models or models_folder()) / "students"
    shipped = []
    for summary in sorted((work / "summary").glob("*.json")):
        found = store.read_json(summary)
        artifact = store.open_artifact(work / found["finals_folder"])
        for name in artifact.manifest["files"]:
            if name.endswith(".safetensors"):
                place = target / found["family"] / name
                shipped.append(store.write_whole(place, artifact.path(name).read_bytes()))
    if not shipped:
        raise BadInput(f"{work} has no finished family")
    return shipped
