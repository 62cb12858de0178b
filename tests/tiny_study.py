"""A study of half a minute, and a way to kill it: run as a script, it dies at the given number of renames."""

import os
import signal
import sys
from pathlib import Path

from blindsave.stages.scales import SMOKE, Scale
from blindsave.stages.site import Site

TINY = Scale(
    **vars(SMOKE)
    | {
        "name": "tiny",
        "families": ("feed_forward",),
        "base_episodes": 20,
        "shadow_episodes": 20,
        "epochs": 2,
        "batch": 8,
        "memory_shots": 5,
        "test_blackouts": (20,),
        "noise_policies": (),
        "latency_calls": 10,
        "latency_blocks": 1,
    }
)


def site(folder: Path) -> Site:
    return Site(folder, TINY, quiet=True)


def die_at(count: int) -> None:
    """SIGKILL this process instead of the `count`-th rename: the worst moments, since renames make things final."""
    left = [count]
    for name in ("replace", "rename"):
        original = getattr(os, name)

        def counted(*arguments, original=original, **options):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **options)

        setattr(os, name, counted)


if __name__ == "__main__":
    from blindsave.study import run

    die_at(int(sys.argv[2]))
    for _ in run(site(Path(sys.argv[1]))):
        pass
