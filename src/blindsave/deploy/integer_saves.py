"""What whole numbers cost in saves: every student against itself, on the same shots, by blackout."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from blindsave.deploy.calibration import recorded
from blindsave.deploy.integers import WEIGHT_LIMIT
from blindsave.deploy.quantise import integer_policy
from blindsave.evidence import tables
from blindsave.evidence.grid import play
from blindsave.evidence.mrmc import principal_by
from blindsave.evidence.principal import principal
from blindsave.evidence.resample import REPLICATES
from blindsave.evidence.saves import saves
from blindsave.evidence.schedule import Schedule
from blindsave.policies.catalog import NamedPolicy, resolve
from blindsave.store import digest

METHOD = "mrmc"
Progress = Callable[[int], None]


def versions(name: str, threads: int | None = None) -> list[NamedPolicy]:
    """A student as it is and in whole numbers, under names of their own."""
    known = resolve(name)
    seen = recorded(known.policy, threads)
    found = [known]
    for kind in WEIGHT_LIMIT:
        whole = integer_policy(known.policy, kind, seen)
        found.append(NamedPolicy(f"{known.family}_{kind}", known.training_seed, whole, digest([known.sha256, kind])))
    return found


def compare(
    family: str, seeds: Sequence[int], schedule: Schedule, threads: int | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Saves of a family's students in float, int16 and int8, and differences to float with intervals."""
    played = [one for seed in seeds for one in versions(f"{family}/{seed}", threads)]
    parts = [play(one, schedule, threads=threads, progress=progress) for one in played]
    names = list(dict.fromkeys(one.family for one in played))
    expected = tables.Expected({name: tuple(seeds) for name in names}, (schedule.layout,))
    table = tables.concatenate(parts, expected)
    found = saves(table, schedule.split)
    analysis = principal_by(METHOD, principal(found, replicates=REPLICATES), found)
    return {
        "shots": len(schedule.shots),
        "seeds": list(seeds),
        "rates": {n: {str(b): asdict(analysis.rate(n, b)) for b in schedule.blackouts} for n in names},
        "differences": {
            name: {str(b): _difference(analysis.difference(name, family, b), found, b) for b in schedule.blackouts}
            for name in names[1:]
        },
    }


def _difference(found: Any, saved: Any, blackout: int) -> dict[str, Any]:
    one, other = (np.asarray(saved.at(name, blackout)) for name in (found.a, found.b))
    changed = {"lost": int((other & ~one).sum()), "gained": int((one & ~other).sum()), "episodes": int(one.size)}
    ends = {name: getattr(found, name) for name in ("estimate", "low", "high", "p")}
    return {**ends, "equivalent": found.equivalence.equivalent, "margin": found.equivalence.margin, **changed}
