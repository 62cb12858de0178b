"""What killed processes left unfinished, and its removal."""

import os
import shutil
import time
from pathlib import Path

from blindsave.store.writing import TEMPORARY

ABANDONED_AFTER_S = 3600.0


def sweep(folder: Path) -> None:
    """Remove what killed runs left of this artifact: old temporaries whose process is gone."""
    for path in folder.parent.glob(f"{TEMPORARY}*-{folder.name}"):
        pid = path.name.removeprefix(TEMPORARY).partition("-")[0]
        old = time.time() - path.stat().st_mtime > ABANDONED_AFTER_S
        if old and pid.isdigit() and not process_alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def sweep_process(root: Path, pid: int) -> None:
    """Remove what a process that has ended left unfinished below a folder."""
    for path in sorted(root.rglob(f"{TEMPORARY}{pid}-*")):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def sweep_all(root: Path) -> None:
    """Remove everything unfinished below a folder, when nobody is at work there."""
    for pid in {path.name.removeprefix(TEMPORARY).partition("-")[0] for path in root.rglob(f"{TEMPORARY}*")}:
        if pid.isdigit():
            sweep_process(root, int(pid))


def process_alive(pid: int) -> bool:
    """Whether a process with this number runs on this machine, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
