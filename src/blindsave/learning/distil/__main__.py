"""Distil on a machine that has only JAX, NumPy, safetensors, MuJoCo and this package: no tyro, no rich.

    python -m blindsave.learning.distil runs/students --minutes 9 --parallel 3 --pack students.tar

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
from blindsave.learning.distil.packing import pack
from blindsave.learning.distil.workshop import Workshop, distil, minutes_from_now
from blindsave.policies.students.registry import PAPER_FAMILIES

UNFINISHED = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Distil, pack if asked to, print one JSON object; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m blindsave.learning.distil")
    parser.add_argument("work", type=Path)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--families", nargs="+", default=PAPER_FAMILIES)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--pack", type=Path, help="archive for what is there in the end, finished or not")
    given = parser.parse_args(arguments)
    shop, status = Workshop(given.work, given.teacher, deadline=minutes_from_now(given.minutes)), 0
    try:
        try:
            print(json.dumps(distil(shop, given.families, given.parallel), allow_nan=False))
        except OutOfTime as error:
            print(f"blindsave: {error}", file=sys.stderr)
            status = UNFINISHED
        if given.pack:
            pack(given.work, given.pack)
    except BlindsaveError as error:
        print(f"blindsave: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
