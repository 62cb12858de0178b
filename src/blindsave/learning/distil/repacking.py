"""Archives of work that goes on: written again and again, so that whoever loses the machine has the last ones."""

import contextlib
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from blindsave.errors import BlindsaveError
from blindsave.learning.distil.packing import pack, packed_files

EVERY_S = 60.0


@contextlib.contextmanager
def packed_meanwhile(archives: Mapping[Path, Path], every_s: float = EVERY_S) -> Iterator[list[BlindsaveError]]:
    """Pack every work folder into its archive while the block runs, and a last time after it, however it ends.

    An archive is written whole or not at all, and only where something has changed. What is wrong with one stops
    neither the work nor the other archives; what is still wrong in the end is printed, and in the list that is given.
    """
    ended, seen, wrong = threading.Event(), dict[Path, object](), list[BlindsaveError]()

    def refresh() -> list[BlindsaveError]:
        return [error for work, out in archives.items() if (error := _refreshed(work, out, seen))]

    def again() -> None:
        while not ended.wait(every_s):
            refresh()

    packer = threading.Thread(target=again, daemon=True)
    packer.start()
    try:
        yield wrong
    finally:
        ended.set()
        packer.join()
        wrong += refresh()
        for error in wrong:
            print(f"blindsave: {error}", file=sys.stderr)


def _refreshed(work: Path, out: Path, seen: dict[Path, object]) -> BlindsaveError | None:
    """Pack a folder that has changed; returns what was wrong."""
    try:
        state = [(path, path.stat().st_mtime_ns) for path in packed_files(work)]
        if not out.exists() or seen.get(work) != state:
            pack(work, out)
            seen[work] = state
    except BlindsaveError as error:
        return error
    except FileNotFoundError:  # a checkpoint whose training has just ended: the next time
        return None
    return None
