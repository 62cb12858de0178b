"""A study of half a minute, and ways to kill it.

Run as a script it runs the study on an engine; with a count, it dies at that number of renames.

    python tiny_study.py FOLDER ENGINE [UNTIL] [COUNT]
"""

import sys
from pathlib import Path

from renames import die_at

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


if __name__ == "__main__":
    from blindsave.engine import open_engine
    from blindsave.study import run

    folder, name, *rest = sys.argv[1:]
    until = next((word for word in rest if not word.isdigit()), None)
    for word in rest:
        if word.isdigit():
            die_at(int(word))
    with open_engine(name, None if name == "here" else 2) as engine:
        for _ in run(site(Path(folder)), engine, until):
            pass
