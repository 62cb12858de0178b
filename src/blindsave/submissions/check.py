"""Verify a submission: are plan, weights, rows and card what they claim, and does everything play again bit by bit?"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from blindsave import store
from blindsave.errors import BadFile
from blindsave.evidence import tables
from blindsave.evidence.plan import Plan
from blindsave.evidence.schedule import Schedule
from blindsave.policies.catalog import NamedPolicy, from_file, resolve
from blindsave.progress import Progress
from blindsave.submissions import card
from blindsave.submissions.layout import (
    CARD,
    CONFIG,
    ROWS,
    Submission,
    expected,
    published_plan,
    schedules,
    seed_of,
)
from blindsave.verify.findings import Findings, Verification
from blindsave.verify.places import PLAN
from blindsave.verify.replay import Replay, choose, compare


def verify_submission(folder: Path, replay: Replay | None = None) -> Verification:
    """Check everything and play rows again: all of them, unless `replay` asks for some at random."""
    found, plan = Findings(), published_plan()
    made = None
    with found.reading(CONFIG, "submissions"):
        made = Submission.read(folder)
    if made is not None:
        _files(folder, made, found)
        _plan(folder, made, plan, found)
        policies = _models(folder, made, found)
        right = seed_of(plan.sha256, made.models)
        found.require(made.sealed_seed == right, CONFIG, "its sealed seed is not the one that plan and weights give")
        tests = schedules(plan, right)
        table = _rows(folder, made, tests, found)
        if table is not None:
            _card(folder, made, table, plan, found)
            _played_again(policies, table, tests, replay or Replay(None), found)
    return Verification(
        folder=str(folder),
        sealed=True,
        released=True,
        checked=dict(found.checked),
        failures=tuple(dict.fromkeys(found.failures)),
        notes=tuple(found.notes),
    )


def _files(folder: Path, made: Submission, found: Findings) -> None:
    """Nothing but what belongs here; names with a dot in front are other people's business."""
    known = {CONFIG, CARD, ROWS, PLAN, *(model.file for model in made.models.values())}
    for path in sorted(folder.iterdir()):
        if path.name not in known and not path.name.startswith("."):
            found.fail(path.name, "does not belong to a submission")


def _plan(folder: Path, made: Submission, plan: Plan, found: Findings) -> None:
    with found.reading(PLAN, "plans"):
        found.require(made.plan_sha256 == plan.sha256, CONFIG, "names another plan than the published one")
        if store.sha256_file(folder / PLAN) != plan.sha256:
            try:
                theirs = tomllib.loads((folder / PLAN).read_text(encoding="utf-8"))
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise BadFile(f"is not a plan: {error}") from error
            place = _first_difference(plan.document, theirs) or "its text"
            raise BadFile(f"is another plan than the published one; it differs in {place}")


def _first_difference(ours: Any, theirs: Any, place: str = "") -> str | None:
    """Where two documents differ first."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            inner = _first_difference(ours.get(key), theirs.get(key), f"{place}.{key}" if place else str(key))
            if inner:
                return inner
        return None
    return None if ours == theirs else place


def _models(folder: Path, made: Submission, found: Findings) -> dict[int, NamedPolicy]:
    """The policies that are what they claim to be."""
    policies = {}
    for seed, model in made.models.items():
        name = model.file or made.policy
        with found.reading(name, "models"):
            if model.file is not None and store.sha256_file(folder / model.file) != model.sha256:
                raise BadFile(f"is not the file that {CONFIG} names: its weights were changed")
            named = from_file(folder / model.file, made.policy, seed) if model.file else resolve(made.policy)
            if named.sha256 != model.sha256:
                raise BadFile(f"is not the policy that {CONFIG} names")
            policies[seed] = named
    return policies


def _rows(folder: Path, made: Submission, tests: Mapping[str, Schedule], found: Findings) -> pa.Table | None:
    with found.reading(ROWS, "tables"):
        if store.sha256_file(folder / ROWS) != made.rows_sha256:
            found.fail(ROWS, f"is not the table that {CONFIG} names: its rows were changed")
        table = tables.read(folder / ROWS, expected(made.policy, made.seeds, tests))
        found.checked["rows"] += table.num_rows
        return table
    return None


def _card(folder: Path, made: Submission, table: pa.Table, plan: Plan, found: Findings) -> None:
    with found.reading(CARD, "cards"):
        text = (folder / CARD).read_text(encoding="utf-8")
        shown = card.results(made, table)
        found.require(shown in text, CARD, "shows other results than the rows give, or none between its marks")
        metrics, right = re.findall(rf"{{[^}}]*{card.METRIC}[^}}]*}}", text), card.metric(made, table, plan)
        found.require(all(one == right for one in metrics), CARD, "its metadata hold another save rate than the rows give")


def _played_again(
    policies: Mapping[int, NamedPolicy], table: pa.Table, tests: Mapping[str, Schedule], replay: Replay, found: Findings
) -> None:
    """Compare every value of a row with what its policy does now."""
    chosen = choose({split: tables.of_split(table, split) for split in tests}, replay)
    with Progress("rows played again", sum(map(len, chosen.values()))) as bar:
        for (split, _, seed), rows in chosen.items():
            if seed in policies:  # a policy that cannot be read was named already
                compare(ROWS, policies[seed], rows, tests[split], replay.threads, bar.advance, found)
