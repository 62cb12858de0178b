"""Runs command lines in a mount of its own: `unshare -rm python small_disk.py FOLDER OPTIONS < LINES > OUTCOMES`.

FOLDER becomes a file system of its own, mounted with OPTIONS; LINES and OUTCOMES are JSON lists. An outcome is the exit
status, what was said on standard error, and the files that are in the folder afterwards; they are removed again.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

from blindsave import cli


def run(words: list[str]) -> tuple[int | str | None, str]:
    said = io.StringIO()
    sys.argv = ["blindsave", *words]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            cli.main()
    except SystemExit as stopped:
        return stopped.code, said.getvalue()
    except BaseException:
        return "traceback", traceback.format_exc()
    return 0, said.getvalue()


def main() -> None:
    folder, options = Path(sys.argv[1]), sys.argv[2]
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)
    outcomes = []
    for words in json.load(sys.stdin):
        status, said = run(words)
        left = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        outcomes.append([status, said, left])
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                shutil.rmtree(entry.path) if entry.is_dir() else os.unlink(entry.path)
    json.dump(outcomes, sys.stdout)


main()
