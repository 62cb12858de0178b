"""One process at a time."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from blindsave.errors import BadInput
from blindsave.store.writing import needs_room


@contextlib.contextmanager
def held(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file alone; while another process does, this is refused with a sentence and that process's number.

    The operating system lets go of it when a process ends, however it ends, so no lock is ever stale.
    """
    import fcntl

    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise BadInput(f"{refusal} (process {file.read().strip() or 'unknown'})") from error
        with needs_room(lock.parent):
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield
