"""Places a command will write to, tried before any work is done.

A command says so in the type of its option: `OutFile` or `OutFolder`. Defaults that it works out itself are tried by
calling `refuse_unwritable`.
"""

import dataclasses
import tempfile
import typing
from pathlib import Path
from typing import Annotated, Any, Literal

from blindsave.errors import BadInput

Kind = Literal["file", "folder"]


@dataclasses.dataclass(frozen=True)
class Target:
    """Marks an option whose value names a file or a folder that will be written."""

    kind: Kind


OutFile = Annotated[Path, Target("file")]
OutFolder = Annotated[Path, Target("folder")]


def refuse_unwritable_options(command: Any, kind: type) -> None:
    """Try every place that a command's options name."""
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        value = getattr(command, name, None)
        for target in _targets(hint):
            for path in value if isinstance(value, tuple) else (value,):
                if path is not None:
                    refuse_unwritable(path, target.kind)


def refuse_unwritable(path: Path, kind: Kind) -> None:
    """Refuse a place where the file, or files in the folder, could not be written; nothing stays behind."""
    try:
        if path.is_symlink() and not path.exists():
            raise BadInput(f"{path} is a link to nothing")
        if kind == "folder" and path.exists() and not path.is_dir():
            raise BadInput(f"{path} is a file, and a folder is wanted")
        if kind == "file" and path.exists() and not path.is_file():
            raise BadInput(f"{path} is {'a folder' if path.is_dir() else 'not a regular file'}, and a file is wanted")
        if len(path.name.encode("utf-8", "surrogateescape")) > LONGEST_NAME:
            raise BadInput(f"a file's name has at most {LONGEST_NAME} bytes, and that of {path} is longer")
        _try(path if kind == "folder" else path.parent)
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from error


LONGEST_NAME = 200
"""Of 255 that file systems allow; temporary names put something in front."""


def _try(folder: Path) -> None:
    """Write a byte into the folder, or into the nearest one above that exists."""
    while not folder.exists():
        if folder.is_symlink():
            raise BadInput(f"{folder} is a link to nothing")
        folder = folder.parent
    if not folder.is_dir():
        raise BadInput(f"{folder} is a file, so nothing can be written below it")
    # Permissions alone do not tell: the superuser has all of them, even where nothing can be written.
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"x")
        file.flush()


def _targets(hint: Any) -> list[Target]:
    found = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Target)]
    return found + [one for inner in typing.get_args(hint) for one in _targets(inner)]
