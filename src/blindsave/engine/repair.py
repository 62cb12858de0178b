"""What to do about damage: say what it is, move it out of the way, make that piece again."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from blindsave.engine.task import Place
from blindsave.errors import Damaged

T = TypeVar("T")
ASIDE = "damaged"


def with_repair(place: Place, do: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Do something; where it meets a damaged piece below `work`, set that aside and do it again.

    Only what can be made again lies below `work`. Damage anywhere else is raised, and so is the same damage twice.
    """
    mended: set[Path] = set()
    while True:
        try:
            return do()
        except Damaged as damage:
            if damage.piece in mended:
                raise
            mended.add(damage.piece)
            tell(quarantine(place, damage))


def quarantine(place: Place, damage: Damaged) -> str:
    """Move a damaged piece to `work/damaged` and return a sentence about it; raises where it must stay."""
    work, piece = place.work.resolve(), damage.piece.resolve()
    if not piece.is_relative_to(work):
        raise damage
    place.forget()
    name = piece.relative_to(work)
    number, target = 0, work / ASIDE / name
    target.parent.mkdir(parents=True, exist_ok=True)
    while target.exists():
        number += 1
        target = work / ASIDE / name.with_name(f"{name.name}-{number}")
    try:
        os.rename(piece, target)
    except FileNotFoundError:  # never written, lost, or somebody else was faster
        return f"{damage}; it is made again"
    return f"{damage}; it was moved to {target} and is made again"
