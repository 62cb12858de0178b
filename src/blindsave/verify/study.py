"""A whole study, verified; and the refusal of one that does not verify."""

from pathlib import Path

from blindsave.errors import BadFile
from blindsave.verify.findings import Findings, Verification
from blindsave.verify.places import FREEZE, LEDGER, Place, locate
from blindsave.verify.played import check_played, check_report, schedules
from blindsave.verify.replay import Replay, replay_rows
from blindsave.verify.seal import check_seal


def verify(folder: str | Path | None = None, *, report: bool = True, replay: Replay | None = None) -> Verification:
    """Check everything a study's folder shows; `report` includes what its report was made of, `replay` plays again."""
    place = locate(folder)
    found = Findings()
    seal = check_seal(place, found)
    grids = {}
    with found.reading(place.name(place.plan)):
        grids = schedules(seal)
    played = {}
    with found.reading(f"results/{LEDGER}"):
        played = check_played(place, seal, found, grids)
    if report:
        check_report(place, found)
    if replay is not None:
        replay_rows(place, seal, played, grids, replay, found)
    return Verification(
        folder=str(place.results if folder is None else folder),
        sealed=is_sealed(place),
        released=seal.last("results") is not None,
        checked=dict(found.checked),
        failures=tuple(dict.fromkeys(found.failures)),
        notes=tuple(found.notes),
        absent=seal.absent,
    )


def is_sealed(place: Place) -> bool:
    """Whether a folder claims anything: a freeze, a ledger, or a table where a release puts it."""
    claims = (place.results / FREEZE, place.results / LEDGER, *(place.results / "test").glob("*.parquet"))
    return any(path.exists() for path in claims)


def refuse_unverified(path: Path) -> None:
    """Refuse a table that lies in a study which does not verify; a table of nobody's study passes."""
    for folder in path.resolve().parents[:2]:
        if (folder / FREEZE).exists() or (folder / LEDGER).exists():
            require_verified(folder)
            return


def require_verified(folder: Path) -> None:
    """Refuse a study that does not verify, naming what is wrong first."""
    failures = list(verify(folder, report=False).failures)
    if failures:
        more = f" (and {len(failures) - 1} more: `blindsave verify`)" if len(failures) > 1 else ""
        raise BadFile(f"{folder} does not verify: {failures[0]}{more}")
