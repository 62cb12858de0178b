"""The analysis plan, `protocol.toml`: hypotheses, endpoint, margins, seeds, exclusions and grids, read and checked."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile, BadInput
from blindsave.evidence.schedule import Schedule, noise_levels, schedule
from blindsave.store import sha256_file
from blindsave.task.shots import Shot
from blindsave.toml_values import Section, number, pairs, several, tables, text, whole

SCHEMA = "blindsave.protocol.v1"
KINDS = ("superiority", "equivalence")
METHODS = ("bootstrap", "mrmc")
SEEDS = ("principal_seed", "subgroup_seed", "noise_seed", "causal_seed", "memoryless_seed")
LARGEST_NOISE_MM = 100
MOST_TIMES = 10
Pairs = tuple[tuple[str, str], ...]
GUEST = "models/guests/{policy}/{seed}.safetensors"
"""Where a study keeps policies that it did not train; they go by the name of their place."""


@dataclass(frozen=True)
class GridPlan:
    """A planned grid; `policies` is None where all take part."""

    split: str
    blackouts: tuple[int, ...]
    conditions: tuple[str, ...]
    policies: tuple[str, ...] | None = None
    times: int = 1
    """How many times as large as the principal test, for the sealed one."""

    def schedule(self, members: Sequence[Shot] = ()) -> Schedule:
        """The grid over its split's shots, or over the given ones."""
        return schedule(self.split, self.blackouts, self.conditions, members)


@dataclass(frozen=True)
class Hypothesis:
    """One claim that the test decides; `split` is None where every endpoint split decides it."""

    id: str
    statement: str
    kind: str
    a: str
    b: str
    split: str | None = None
    disturbance: str = "clean"
    margin_points: float | None = None
    """Where it is not the plan's."""
    blackout: int | None = None
    """Hidden steps, where they are not the endpoint's."""


@dataclass(frozen=True)
class Plan:
    """A checked analysis plan; `document` is the whole file as read."""

    path: Path
    sha256: str
    title: str
    families: tuple[str, ...]
    training_seeds: tuple[int, ...]
    reference: str
    blackout: int
    splits: tuple[str, ...]
    margin: float
    replicates: int
    grids: Mapping[str, GridPlan]
    contrasts: Mapping[str, Pairs]
    hypotheses: tuple[Hypothesis, ...]
    freeze_groups: Mapping[str, Mapping[str, Any]]
    document: Mapping[str, Any]
    guests: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Policies that the study did not train, and their training seeds; (0,) where there is none."""

    @property
    def runs(self) -> tuple[tuple[str, int], ...]:
        """Every policy that the test opens for, as (policy, training seed); the reference has seed 0."""
        students = ((family, seed) for family in self.families for seed in self.training_seeds)
        guests = ((name, seed) for name, seeds in self.guests.items() for seed in seeds)
        return (*students, (self.reference, 0), *guests)

    def policies(self, split: str) -> dict[str, tuple[int, ...]]:
        """Policies and training seeds that a planned grid must hold."""
        every = {**dict.fromkeys(self.families, self.training_seeds), self.reference: (0,), **self.guests}
        chosen = self.grids[split].policies
        return every if chosen is None else {name: every[name] for name in chosen}

    @property
    def method(self) -> str:
        """How intervals are made: the paper's `bootstrap`, unless the plan names `mrmc` (for few training seeds)."""
        return self.document["statistics"].get("method", METHODS[0])

    @property
    def figures(self) -> tuple[str, ...]:
        """The figures that the report shows, by name; all where the plan names none."""
        return tuple(self.document.get("report", {}).get("figures", ()))

    def asked_at(self, hypothesis: Hypothesis) -> int:
        """Hidden steps at which a hypothesis is decided: its own, or the endpoint's."""
        return self.blackout if hypothesis.blackout is None else hypothesis.blackout

    def seed(self, name: str) -> int:
        """A bootstrap seed of the plan, by its name in [statistics]."""
        return self.document["statistics"][name]

    def checkpoint(self, policy: str, training_seed: int) -> str:
        """Where a policy's checkpoint lies, relative to the root."""
        names = self.document["freeze"]
        if policy == self.reference:
            return names["reference"]
        if policy in self.guests:
            return GUEST.format(policy=policy, seed=training_seed)
        return names["student"].format(family=policy, seed=training_seed)


def load_plan(path: str | Path = "protocol.toml") -> Plan:
    """Read a plan; anything missing or contradictory is a `BadFile` that names it."""
    source = Path(path)
    try:
        document = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{source} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{source} is not a plan: {error}") from error
    if document.get("schema") != SCHEMA:
        raise BadFile(f"{source} is not a plan of schema {SCHEMA}")
    try:
        plan = _parse(source, Section(str(source), document))
    except BadInput as error:
        raise BadFile(str(error)) from error
    _check(plan)
    return plan


def _parse(source: Path, whole_file: Section) -> Plan:
    policies, endpoint, statistics = (whole_file.part(name) for name in ("policies", "endpoint", "statistics"))
    grids, contrasts = whole_file.part("grids"), whole_file.part("contrasts")
    guests = policies.part("guests") if "guests" in policies.values else Section(policies.where, {})
    for name in SEEDS:
        statistics.need(name, whole(0))
    if "report" in whole_file.values:
        whole_file.part("report").get("figures", several(text))
    freeze = whole_file.part("freeze")
    for name in ("student", "reference"):
        freeze.need(name, text)
    return Plan(
        path=source,
        sha256=sha256_file(source),
        title=whole_file.need("title", text),
        families=policies.need("families", several(text)),
        training_seeds=policies.need("training_seeds", several(whole(1))),
        reference=policies.need("reference", text),
        blackout=endpoint.need("blackout", whole(0)),
        splits=endpoint.need("splits", several(text)),
        margin=endpoint.need("equivalence_margin_points", number(0, 100)) / 100,
        replicates=statistics.need("replicates", whole(1)),
        grids={name: _grid(name, grids.part(name)) for name in grids.values},
        contrasts={name: contrasts.get(name, pairs(text)) for name in contrasts.values},
        hypotheses=tuple(_hypothesis(whole_file, one) for one in whole_file.need("hypotheses", tables)),
        freeze_groups=freeze.part("groups").values,
        document=whole_file.values,
        guests={name: guests.get(name, several(whole(0))) for name in guests.values},
    )


def _grid(split: str, grid: Section) -> GridPlan:
    grid.only(("blackouts", "conditions", "noise_mm", "policies", "times"))
    if "conditions" in grid.values:
        named = grid.need("conditions", several(text))
    else:
        named = noise_levels(grid.need("noise_mm", several(number(0, LARGEST_NOISE_MM))))
    lengths, chosen = grid.need("blackouts", several(whole(0))), grid.get("policies", several(text))
    return GridPlan(split, lengths, named, chosen, grid.get("times", whole(1, MOST_TIMES)) or 1)


def _hypothesis(whole_file: Section, entry: Mapping[str, Any]) -> Hypothesis:
    section = Section(f"{whole_file.where}, [[hypotheses]]", entry)
    known = [one.name for one in fields(Hypothesis)]
    section.only(known)
    for name in ("id", "statement", "kind", "a", "b"):
        section.need(name, text)
    numbers = {"margin_points": number(0, 100), "blackout": whole(0)}
    written = {name: section.need(name, text) for name in known if name in entry and name not in numbers}
    return Hypothesis(**written, **{name: section.get(name, check) for name, check in numbers.items()})


def _check(plan: Plan) -> None:
    if plan.method not in METHODS:
        raise BadFile(f"{plan.path}: statistics.method is '{plan.method}', which is none of {', '.join(METHODS)}")
    known = {*plan.families, plan.reference, *plan.guests}
    if len(known) < len(plan.families) + 1 + len(plan.guests):
        raise BadFile(f"{plan.path}: a guest has the name of another policy")
    named = [(f"contrasts.{group}", name) for group, pairs in plan.contrasts.items() for p in pairs for name in p]
    named += [(f"hypothesis {h.id}", name) for h in plan.hypotheses for name in (h.a, h.b)]
    named += [(f"grids.{grid.split}", name) for grid in plan.grids.values() for name in grid.policies or ()]
    for where, name in named:
        if name not in known:
            raise BadFile(f"{plan.path}: {where} names '{name}', which is not among the policies")
    for split in plan.splits:
        if split not in plan.grids or plan.blackout not in plan.grids[split].blackouts:
            raise BadFile(f"{plan.path}: the endpoint needs {split} at {plan.blackout} steps, which no grid holds")
    ids = [hypothesis.id for hypothesis in plan.hypotheses]
    for hypothesis in plan.hypotheses:
        if hypothesis.kind not in KINDS or ids.count(hypothesis.id) > 1:
            raise BadFile(f"{plan.path}: hypothesis {hypothesis.id} is named twice or of no kind of {KINDS}")
        if hypothesis.split is not None and hypothesis.split not in plan.grids:
            raise BadFile(f"{plan.path}: hypothesis {hypothesis.id} needs {hypothesis.split}, which no grid holds")
        for split in (hypothesis.split,) if hypothesis.split else plan.splits:
            if hypothesis.blackout is not None and hypothesis.blackout not in plan.grids[split].blackouts:
                needed = f"{split} at {hypothesis.blackout} steps, which no grid holds"
                raise BadFile(f"{plan.path}: hypothesis {hypothesis.id} needs {needed}")
