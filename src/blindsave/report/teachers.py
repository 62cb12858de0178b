"""Teachers placed by what they are and by what their students did: fingerprints beside the studies that used them.

A results folder may hold further studies, as `results/teachers/seed_7304`, and fingerprints (`fingerprints.json`,
written by `blindsave teacher fingerprint --out`), wherever below it. A study belongs to the fingerprint of the very
file that its freeze binds as the teacher. A teacher may have taught in several studies; it is one teacher all the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile
from blindsave.evidence import tables
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.mrmc import principal_by
from blindsave.evidence.principal import principal
from blindsave.evidence.saves import saves
from blindsave.report import published
from blindsave.report.rank_correlation import RankCorrelation, rank_correlation
from blindsave.report.sheet import Estimate
from blindsave.store import read_json, sha256_file
from blindsave.task.conditions import CLEAN_NAME
from blindsave.verify.places import FREEZE, LEDGER
from blindsave.verify.played import released_tables

FINGERPRINTS = "fingerprints.json"
SPLIT = "principal_test"
LINEAR, WINDOW = "structured_k0", "finite_stack_10"
PAPER = "paper"
FEWEST = 2
"""Teachers that make a comparison."""


@dataclass(frozen=True)
class Taught:
    """A study, found on disk, whose teacher has a fingerprint."""

    name: str
    fingerprint: Mapping[str, Any]
    table: Path
    """Episodes of the principal test."""
    sources: tuple[Path, ...]
    """Where all of it was read."""
    plain: bool = True
    """Whether its students learned from episodes in which nothing went wrong but the blackout."""


@dataclass(frozen=True)
class Placed:
    """A teacher with its fingerprint and the window's deficit under it, in points."""

    name: str
    fingerprint: Mapping[str, Any]
    deficit: Estimate

    @property
    def label(self) -> str:
        """Its training seed where it has one; figures tell two of one seed apart by how time-outs counted."""
        return str(self.fingerprint.get("seed", self.name.replace("_", " ")))

    def value(self, trait: "Trait") -> float | None:
        """A trait of the teacher; None where it is not known."""
        found: Any = self.fingerprint
        for key in trait.path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return None if found is None else float(found)


@dataclass(frozen=True)
class Trait:
    """One figure of a fingerprint."""

    name: str
    title: str
    path: tuple[str, ...]
    decimals: int


TRAITS = (
    Trait("label_variance", "Label variance of the 16 nearest", ("nearest_history", "label_variance"), 3),
    Trait("distance", "Nearest history, 95th percentile", ("nearest_history", "p95"), 2),
    Trait("reset_100", "Lost with the state, 100 ms (points)", ("state_reset", "5", "drop"), 1),
    Trait("reset_400", "Lost with the state, 400 ms (points)", ("state_reset", "20", "drop"), 1),
    Trait("saves_400", "Validation saves at 400 ms, of 225", ("saves", "deterministic", "20", "saves"), 0),
    Trait("change_hidden", "Change of requests while hidden", ("roughness", "hidden", "change"), 3),
    Trait("halfway", "Half way sideways after (ms)", ("timing", "halfway_ms"), 0),
)
"""What is compared with the deficit, chosen before there were more than three teachers."""


def read_taught(root: Path) -> tuple[Taught, ...]:
    """Every study below a results folder, itself included, whose teacher has a fingerprint there."""
    prints = {
        one["sha256"]: (name, one, path)
        for path in sorted(root.rglob(FINGERPRINTS))
        for name, one in _teachers(path).items()
    }
    found = []
    for freeze in sorted(root.rglob(FREEZE)) if prints else ():
        known = prints.get(_teacher_sha256(freeze))
        table = _table(freeze.parent) if known else None
        if known is not None and table is not None:
            found.append(Taught(known[0], known[1], table, (known[2], freeze, table), _plain(freeze.parent)))
    return tuple(found)


def place_all(studies: Sequence[Taught], endpoint: int, method: str, replicates: int) -> tuple[Placed, ...]:
    """Every teacher once, however many studies it taught in: two points of one teacher are not two observations.

    Of several studies that compared both memories, the one counts whose students learned without faults, as those of
    other teachers did; then the one nearest to the results folder, which is the main study.
    """
    found: dict[str, Placed] = {}
    for one in sorted(studies, key=lambda study: (not study.plain, len(study.table.parts))):
        sha256 = one.fingerprint["sha256"]
        if sha256 not in found and (placed := place(one, endpoint, method, replicates)) is not None:
            found[sha256] = placed
    order = dict.fromkeys(one.fingerprint["sha256"] for one in studies)
    return tuple(found[sha256] for sha256 in order if sha256 in found)


def place(study: Taught, endpoint: int, method: str, replicates: int) -> Placed | None:
    """A study's teacher and the window's deficit at one blackout length; None where they were not compared."""
    held = saves(tables.read(study.table), SPLIT)
    if not {LINEAR, WINDOW} <= held.saved.keys() or endpoint not in held.blackouts:
        return None
    rates = principal_by(method, principal(held, replicates=replicates), held)
    gap = rates.difference(LINEAR, WINDOW, endpoint)
    return Placed(study.name, study.fingerprint, Estimate(100 * gap.estimate, 100 * gap.low, 100 * gap.high, 1, True))


def paper() -> Placed:
    """The paper's one teacher, from what was published of it."""
    found = published.difference(LINEAR, WINDOW)
    assert found is not None
    return Placed(PAPER, published.fingerprint(), Estimate(found.value, found.low, found.high, 1, True))


def association(placed: tuple[Placed, ...], trait: Trait) -> RankCorrelation:
    """How far a trait and the deficit have the same order over our own teachers; the paper's is never among them."""
    pairs = [(value, one.deficit.value) for one in placed if (value := one.value(trait)) is not None]
    return rank_correlation([x for x, _ in pairs], [y for _, y in pairs])


def _teachers(path: Path) -> dict[str, Any]:
    found = read_json(path)
    teachers = found.get("teachers") if isinstance(found, dict) else None
    if not isinstance(teachers, dict) or not all(
        isinstance(one, dict) and "sha256" in one for one in teachers.values()
    ):
        raise BadFile(f"{path} holds no fingerprints as `blindsave teacher fingerprint --out` writes them")
    if found.get("shots") is not None:
        raise BadFile(f"{path} holds fingerprints of a trial (--shots), which compare with nothing")
    return teachers


def _plain(folder: Path) -> bool:
    """Whether no faults are known of a study's training."""
    manifest = folder / "datasets" / "base" / "manifest.json"
    if not manifest.is_file():
        return True
    return read_json(manifest)["configuration"]["schedule"].get("conditions", {}).keys() <= {CLEAN_NAME}


def _teacher_sha256(freeze: Path) -> str:
    """The hash of the teacher that a freeze binds; empty where it binds none."""
    body = read_json(freeze).get("body", {})
    file = body.get("policies", {}).get("teacher/0")
    return body.get("groups", {}).get("checkpoints", {}).get(file, "")


def _table(folder: Path) -> Path | None:
    """The principal test of a study as released; None where it was not opened, refused where it was changed."""
    results = Ledger(folder / LEDGER).last("results") if (folder / LEDGER).is_file() else None
    path = released_tables(folder, results.content if results else None).get(SPLIT)
    if path is None or results is None:
        return None
    if sha256_file(path) != results.content["tables"][SPLIT]:
        raise BadFile(f"{path} is not the table the ledger names")
    return path
