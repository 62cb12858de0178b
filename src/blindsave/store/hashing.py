"""One hash for a value, a file, a folder, or this package's own code."""

import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile

SOURCE = Path(__file__).resolve().parents[1]
"""This package's own files."""


def canonical_json(value: Any) -> str:
    """The one text a JSON value has here: sorted keys, no spaces, no NaN; equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 (hex) of a JSON value's canonical text."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def sha256_file(path: str | Path) -> str:
    """SHA-256 (hex) of a file's bytes; a missing file is a `BadFile`."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error


def files_below(folder: str | Path) -> list[Path]:
    """Every regular file below a folder, in the order of their relative POSIX paths."""
    root = Path(folder)
    return sorted((p for p in root.rglob("*") if p.is_file()), key=lambda p: p.relative_to(root).as_posix())


def sha256_tree(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """One SHA-256 over relative paths and contents of a folder's files (all, unless `files` says which)."""
    root = Path(folder)
    listed = files_below(root) if files is None else files
    return digest({path.relative_to(root).as_posix(): sha256_file(path) for path in listed})


def code_files(source: Path, *packages: str) -> list[Path]:
    """The source files (`.py`, `.c`, `.h`, `.inc`) below a folder, of the named packages or of all."""
    kinds = {".py", ".c", ".h", ".inc"}
    return [
        path
        for path in files_below(source)
        if path.suffix in kinds and (not packages or path.relative_to(source).parts[0] in packages)
    ]


@functools.cache
def code_sha256(*packages: str, source: Path = SOURCE) -> str:
    """One hash over this package's source files, of the named packages or of all."""
    return sha256_tree(source, code_files(source, *packages))
