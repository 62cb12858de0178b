"""What every family costs: counted from the registered families, timed where an efficiency file says so."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blindsave.report.sheet import Number
from blindsave.store import read_json

KINDS = ("python", "native", "numpy")
"""Ways a step was timed, the one that compares with the paper first: the compiled kernel called from Python,
the kernel inside a native loop, plain NumPy."""


@dataclass(frozen=True)
class Timing:
    """Latency of one step in microseconds: median and 95th percentile of block means, and medians by training seed."""

    median_us: float
    p95_us: float | None = None
    by_seed: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class FamilyCost:
    """Sizes and timings of one family."""

    parameters: int
    core_parameters: int
    carry_bytes: int
    recurrent_bytes: int
    macs: int
    timings: Mapping[str, Timing] = field(default_factory=dict)

    @property
    def timing(self) -> Timing | None:
        """The timing that compares with the paper's, or the best substitute."""
        return next((self.timings[kind] for kind in KINDS if kind in self.timings), None)

    @property
    def latency_us(self) -> float | None:
        """Median latency."""
        return None if self.timing is None else self.timing.median_us

    @property
    def cells(self) -> tuple[int | Number | None, ...]:
        """Everything in the order of `published.COST_FIELDS`, as tables show it."""
        times = (None, None) if self.timing is None else (self.timing.median_us, self.timing.p95_us)
        sizes = (self.parameters, self.core_parameters, self.carry_bytes, self.recurrent_bytes, self.macs)
        return (*sizes, *(None if time is None else Number(time, 2) for time in times))


@dataclass(frozen=True)
class Costs:
    """Every family's cost, and the machine that timed them."""

    families: Mapping[str, FamilyCost]
    machine: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether any latency was measured."""
        return any(cost.timings for cost in self.families.values())


def read_costs(folder: Path, policies: Iterable[str]) -> Costs:
    """Costs of the named policies; `folder`/*.json may add timings (docs/report.md has the format)."""
    from blindsave.policies.classical.costs import rival_costs
    from blindsave.policies.students.accounting import cost_table
    from blindsave.policies.students.registry import families, find

    wanted = set(policies)
    order = [*(name for name in families() if name in wanted), *sorted(wanted - families().keys())]
    counted = cost_table({name: family for name in order if (family := find(name)) is not None})
    counted |= rival_costs(wanted)
    timings: dict[str, dict[str, Timing]] = {}
    machine: dict[str, Any] = {}
    used = []
    for path in sorted(folder.glob("*.json")):
        document = read_json(path)
        entries = document.get("families") if isinstance(document, dict) else None
        if not isinstance(entries, dict):
            continue
        used.append(path)
        machine |= document.get("machine") or {}
        for name, entry in entries.items():
            if isinstance(entry, dict):
                timings.setdefault(name, {}).update(_timings(entry))
    made = {name: FamilyCost(**sizes, timings=timings.get(name, {})) for name, sizes in counted.items()}
    return Costs(made, machine, tuple(used))


def _timings(entry: Mapping[str, Any]) -> dict[str, Timing]:
    """`KIND_us` is a number, or an object with `median`, `p95` and `by_seed`."""
    found = {}
    for kind in KINDS:
        value = entry.get(f"{kind}_us")
        if isinstance(value, int | float):
            found[kind] = Timing(float(value), entry.get(f"{kind}_p95_us"), entry.get(f"{kind}_us_by_seed") or {})
        elif isinstance(value, dict) and isinstance(value.get("median"), int | float):
            found[kind] = Timing(float(value["median"]), value.get("p95"), value.get("by_seed") or {})
    return found
