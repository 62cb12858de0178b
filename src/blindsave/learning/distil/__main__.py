"""Distil on a machine that has only JAX, NumPy, safetensors, MuJoCo and this package: no tyro, no rich, no pyarrow.

    python -m blindsave.learning.distil runs/students --minutes 9 --parallel 3 --pack students.tar
    python -m blindsave.learning.distil runs/both --teachers a=a.safetensors:20 b=b.safetensors --parallel 16 --pack out

Several teachers are distilled into folders of their names, and their students train in one program (`fleet`).

The same command continues; status 3 says that time was up before the work was done. `blindsave distil students` and
`blindsave distil pack` do the same with more options.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning.distil.config import PAPER, Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.fleet import distil_fleet
from blindsave.learning.distil.pipeline import Budget
from blindsave.learning.distil.repacking import packed_meanwhile
from blindsave.learning.distil.schedule import EPISODES, TRAINING_SEEDS, shadow_schedules
from blindsave.learning.distil.workshop import Workshop, distil, minutes_from_now
from blindsave.policies.students.registry import PAPER_FAMILIES

REFUSED, UNFINISHED = 2, 3
Named = tuple[str, Path, int | None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Distil, pack if asked to, print one JSON object; returns the exit status."""
    given = _parser().parse_args(arguments)
    try:
        shops = _workshops(given)
        with packed_meanwhile(_archives(shops, given)) as wrong:
            status = _distil(shops, given)
    except BlindsaveError as error:
        print(f"blindsave: {error}", file=sys.stderr)
        return REFUSED
    return status or (REFUSED if wrong else 0)


def named(text: str) -> Named:
    """NAME=FILE, or NAME=FILE:COUNT for as many training seeds."""
    name, sign, file = text.partition("=")
    path, colon, count = file.rpartition(":")
    if colon and count.isdigit():
        file = path
    if not (name and sign and file):
        raise argparse.ArgumentTypeError(f"`{text}` is not NAME=FILE or NAME=FILE:COUNT")
    return name, Path(file), int(count) if colon and count.isdigit() else None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m blindsave.learning.distil")
    parser.add_argument("work", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument(
        "--teachers",
        nargs="+",
        type=named,
        metavar="NAME=FILE[:COUNT]",
        help="several, side by side; with COUNT, a teacher has as many seeds, counted from the first of --seeds",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=TRAINING_SEEDS)
    parser.add_argument("--families", nargs="+", default=PAPER_FAMILIES)
    parser.add_argument("--base-episodes", type=int, default=EPISODES)
    parser.add_argument("--shadow-episodes", type=int, default=EPISODES, help="per family, shared by its collectors")
    parser.add_argument("--epochs", type=int, default=PAPER.epochs)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument(
        "--pack",
        type=Path,
        help="archive of what is there, written again every minute and in the end; with --teachers, a folder of them",
    )
    return parser


def _workshops(given: argparse.Namespace) -> list[Workshop]:
    """One per teacher; a budget that cannot be met is refused."""
    deadline, seeds = minutes_from_now(given.minutes), tuple(given.seeds)
    teachers: list[Named] = given.teachers or [("", given.teacher, None)]
    if len({name for name, _, _ in teachers}) < len(teachers):
        raise BadInput("every teacher needs a name of its own")
    shops = []
    for name, file, count in teachers:
        own = seeds if count is None else tuple(range(seeds[0], seeds[0] + count))
        if not own or len(set(own)) < len(own):
            raise BadInput("distillation needs at least one training seed, and none twice")
        shadow_schedules(given.shadow_episodes, own)
        budget = Budget(given.base_episodes, given.shadow_episodes, own, Recipe(epochs=given.epochs))
        shops.append(Workshop(given.work / name, file, budget, deadline=deadline))
    return shops


def _archives(shops: Sequence[Workshop], given: argparse.Namespace) -> dict[Path, Path]:
    """Where every work folder is packed to, if anywhere; `blindsave study --import` takes a folder of NAME.tar."""
    if given.pack is None:
        return {}
    return {shop.work: given.pack / f"{shop.work.name}.tar" if given.teachers else given.pack for shop in shops}


def _distil(shops: Sequence[Workshop], given: argparse.Namespace) -> int:
    try:
        if given.teachers:
            found = distil_fleet(shops, given.families, given.parallel)
        else:
            found = distil(shops[0], given.families, given.parallel)
    except OutOfTime as error:
        print(f"blindsave: {error}", file=sys.stderr)
        return UNFINISHED
    print(json.dumps(found, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
