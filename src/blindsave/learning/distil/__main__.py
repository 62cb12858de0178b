"""Distil on a machine that has only JAX, NumPy, safetensors, MuJoCo and this package: no tyro, no rich.

    python -m blindsave.learning.distil runs/students --minutes 9 --parallel 3 --pack students.tar
    python -m blindsave.learning.distil runs/both --teachers a=a.safetensors b=b.safetensors --parallel 16

Several teachers are distilled into folders of their names, and their students train in one program (`fleet`).

The same command continues; status 3 says that time was up before the work was done. `blindsave distil students` and
`blindsave distil pack` do the same with more options.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from blindsave.errors import BlindsaveError
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.fleet import distil_fleet
from blindsave.learning.distil.packing import pack
from blindsave.learning.distil.pipeline import Budget
from blindsave.learning.distil.schedule import TRAINING_SEEDS
from blindsave.learning.distil.workshop import Workshop, distil, minutes_from_now
from blindsave.policies.students.registry import PAPER_FAMILIES

UNFINISHED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Distil, pack if asked to, print one JSON object; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m blindsave.learning.distil")
    parser.add_argument("work", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--teachers", nargs="+", type=named, metavar="NAME=FILE", help="several, side by side")
    parser.add_argument("--seeds", nargs="+", type=int, default=TRAINING_SEEDS)
    parser.add_argument("--families", nargs="+", default=PAPER_FAMILIES)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--pack", type=Path, help="archive for what is there in the end, finished or not")
    given = parser.parse_args(arguments)
    deadline, budget, status = minutes_from_now(given.minutes), Budget(seeds=tuple(given.seeds)), 0
    teachers = dict(given.teachers or ())
    places = {given.work / name: file for name, file in teachers.items()} or {given.work: given.teacher}
    shops = [Workshop(work, file, budget, deadline=deadline) for work, file in places.items()]
    try:
        try:
            if teachers:
                found = distil_fleet(shops, given.families, given.parallel)
            else:
                found = distil(shops[0], given.families, given.parallel)
            print(json.dumps(found, allow_nan=False))
        except OutOfTime as error:
            print(f"blindsave: {error}", file=sys.stderr)
            status = UNFINISHED
        if given.pack:
            for shop in shops:
                pack(shop.work, given.pack.with_stem(f"{given.pack.stem}-{shop.work.name}") if teachers else given.pack)
    except BlindsaveError as error:
        print(f"blindsave: {error}", file=sys.stderr)
        return 2
    return status


def named(text: str) -> tuple[str, Path]:
    """NAME=FILE."""
    name, sign, file = text.partition("=")
    if not (name and sign and file):
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=FILE")
    return name, Path(file)


if __name__ == "__main__":
    sys.exit(main())
