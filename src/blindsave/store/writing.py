"""Files written whole or not at all, and durably: under a temporary name in their own folder, synced, renamed."""

import contextlib
import errno
import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile, DiskFull

TEMPORARY = ".tmp-"


def write_whole(path: str | Path, data: bytes | str | Callable[[Path], object]) -> Path:
    """Write a file whole or not at all, and durably; returns the path.

    `data` is the content, or a function that writes it to the temporary path it is given (which keeps the
    final name's suffix, so libraries that look at it behave). Missing parent folders are made.
    """
    target = Path(path)
    temporary = temporary_name(target)
    with needs_room(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if callable(data):
                data(temporary)
            else:
                temporary.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
            sync(temporary)
            os.replace(temporary, target)
            sync(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def needs_room(folder: Path) -> Iterator[None]:
    """Say in one sentence that the disk is full where it is."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        sentence = f"there is no room left on the disk that holds {folder}; make room and run the same command again"
        raise DiskFull(sentence) from error


def write_json(path: str | Path, value: Any) -> Path:
    """Write a JSON value's readable text, whole or not at all."""
    return write_whole(path, json_text(value))


def json_text(value: Any) -> str:
    """Readable, deterministic JSON: sorted keys, two spaces, final newline."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: str | Path) -> Any:
    """Read JSON; a missing or damaged file is a `BadFile` that names it."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is damaged: it is not JSON ({error})") from error


def sync(path: Path) -> None:
    """Force a file's or folder's content to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def temporary_name(target: Path) -> Path:
    """What a file or folder is called until it is finished; it says whose it is."""
    return target.with_name(f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}-{target.name}")
