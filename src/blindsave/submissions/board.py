"""The leaderboard: verified submissions beside the reference, on the same shots, with intervals that know few seeds.

Rates and differences are those of the multi-reader multi-case analysis (`evidence.mrmc`): training seeds and shots both
count as drawn by chance. The reference is the plan's, with the rows of the published study.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.evidence import mrmc, tables
from blindsave.evidence.freeze import SEALED_SPLIT
from blindsave.evidence.intervals import Contrast, Interval
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.plan import Plan
from blindsave.evidence.principal import principal
from blindsave.evidence.saves import saves
from blindsave.submissions.check import verify_submission
from blindsave.submissions.layout import PRINCIPAL, ROWS, Submission, is_submission
from blindsave.verify.findings import Failure, Verification
from blindsave.verify.places import LEDGER, brought
from blindsave.verify.played import released_tables
from blindsave.verify.replay import Replay
from blindsave.verify.study import require_verified

CANDIDATE, REFERENCE = "candidate", "reference"
DECIDES = ("arena", "task", "policies", "evidence")
"""A verification is remembered for as long as none of these changes."""


@dataclass(frozen=True)
class Entry:
    """One verified submission."""

    name: str
    """Its folder."""
    submission: Submission
    rates: Mapping[int, Interval]
    """On the principal test, by hidden control steps."""
    sealed: Interval
    """At the endpoint, on the shots that its own weights decided."""
    difference: Contrast | None
    """To the reference at the endpoint, on the same shots; None for the reference itself."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "name": self.name,
            "title": self.submission.about.title,
            "policy": self.submission.policy,
            "training_seeds": list(self.submission.seeds),
            "weights": self.submission.weights,
            "rates": {str(length): asdict(rate) for length, rate in self.rates.items()},
            "sealed": asdict(self.sealed),
            "difference": None if self.difference is None else self.difference.to_dict(),
        }


@dataclass(frozen=True)
class Board:
    """Verified submissions, the best first, and those that were refused, with what is wrong with each."""

    entries: tuple[Entry, ...]
    refused: Mapping[str, tuple[Failure, ...]]
    plan: Plan


def folders(root: Path) -> list[Path]:
    """The submissions in a folder, by name."""
    if not root.is_dir():
        raise BadInput(f"there is no folder {root}")
    found = sorted(path for path in root.iterdir() if path.is_dir() and is_submission(path))
    if not found:
        raise BadInput(f"{root} holds no submission (`blindsave submit` makes one)")
    return found


def board(found: Iterable[Path], plan: Plan, work: Path, threads: int | None = None) -> Board:
    """Verify submissions and rank those that pass by their save rate at the plan's endpoint."""
    reference, sha256 = _reference(plan)
    entries, refused = [], {}
    for folder in found:
        checked = remembered(folder, work, threads)
        if checked.ok:
            entries.append(_entry(folder, plan, reference, sha256))
        else:
            refused[folder.name] = checked.failures
    ranked = sorted(entries, key=lambda one: (-one.rates[plan.blackout].estimate, one.submission.weights, one.name))
    return Board(tuple(ranked), refused, plan)


def remembered(folder: Path, work: Path, threads: int | None) -> Verification:
    """The verification of a submission; one of the very same bytes by the same code is not repeated."""
    inputs = {"files": store.sha256_tree(folder), "code": store.code_sha256(*DECIDES)}

    def build(_: Path) -> dict[str, Any]:
        return verify_submission(folder, Replay(None, threads=threads)).to_dict()

    kept = store.make(work, "submission-check", {"schema": "v1"}, inputs, build).manifest["result"]
    failures = tuple(Failure(**one) for one in kept["failures"])
    return Verification(str(folder), True, True, kept["checked"], failures, tuple(kept["notes"]))


def _reference(plan: Plan) -> tuple[pa.Table, str]:
    """The reference's published rows on the principal test, and the hash of its file."""
    root = brought()
    require_verified(root)
    ledger = Ledger(root / "results" / LEDGER).last("results")
    if ledger is None:
        raise BadFile(f"{root} holds no released results to compare with")
    table = tables.read(released_tables(root / "results", ledger.content)[PRINCIPAL])
    return _of(table, plan.reference), store.sha256_file(root / plan.checkpoint(plan.reference, 0))


def _entry(folder: Path, plan: Plan, reference: pa.Table, reference_sha256: str) -> Entry:
    made = Submission.read(folder)
    table = tables.read(folder / ROWS)
    own = _called(tables.of_split(table, PRINCIPAL), CANDIDATE)
    both = saves(tables.concatenate([own, _called(reference, REFERENCE)]))
    found = mrmc.principal_by("mrmc", principal(both), both)
    is_reference = [model.sha256 for model in made.models.values()] == [reference_sha256]
    sealed = saves(tables.of_split(table, SEALED_SPLIT))
    return Entry(
        name=folder.name,
        submission=made,
        rates={length: found.rate(CANDIDATE, length) for length in both.blackouts},
        sealed=mrmc.rate(sealed, (made.policy, plan.blackout, "clean")),
        difference=None if is_reference else found.difference(CANDIDATE, REFERENCE, plan.blackout, plan.margin),
    )


def _of(table: pa.Table, policy: str) -> pa.Table:
    names = table["policy"].to_numpy(zero_copy_only=False)
    return table.filter(pa.array(names == policy))


def _called(table: pa.Table, name: str) -> pa.Table:
    """The same rows under another name: a submission may be called like the reference."""
    column = pa.array([name] * table.num_rows, pa.string())
    return table.set_column(0, table.schema.field(0), column)
