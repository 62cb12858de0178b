"""Files that were frozen and are not shipped: who leaves them out says which, and why, in `left_out.json`.

A study may have many students of which a repository holds a few. Their hashes stay in the freeze, so the others can be
handed in later and compared; what their rows say then rests on the ledger alone. Whatever decides what may be claimed
(plan, freeze, ledger, tables of episodes) is never left out.
"""

from collections.abc import Mapping
from typing import Any

from blindsave.errors import BadFile
from blindsave.store import read_json
from blindsave.verify.findings import Findings
from blindsave.verify.places import FREEZE, LEDGER, LEFT_OUT, PLAN, Place

SCHEMA = "blindsave.left_out.v1"
KEYS = {"schema", "files", "why"}


def check_left_out(place: Place, body: Mapping[str, Any], found: Findings) -> frozenset[str]:
    """Names of bound files that may be absent, and are; every other name on the list is a failure."""
    path, name = place.results / LEFT_OUT, f"results/{LEFT_OUT}"
    if not (path.exists() or path.is_symlink()):
        return frozenset()
    with found.reading(name):
        files, why = _said(read_json(path))
        bound = {file for group in body.get("groups", {}).values() for file in group}
        wrong = {file: reason for file in files if (reason := _refused(place, file, bound))}
        for file, reason in wrong.items():
            found.fail(file, f"{reason} ({name})")
        absent = frozenset(files) - wrong.keys()
        if absent:
            found.checked["left_out"] = len(absent)
            said = f"{len(absent)} of {len(bound)} frozen files are left out and named with their hashes in"
            found.notes.append(f"{said} results/{FREEZE}: {why.rstrip('.')}")
        return absent
    return frozenset()


def _said(document: Any) -> tuple[list[str], str]:
    """The list and its reason; a list of another shape is refused as a whole."""
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BadFile(f"is not a list of schema {SCHEMA}")
    if document.keys() != KEYS:
        raise BadFile(f"has to hold {', '.join(sorted(KEYS))} and nothing else")
    files, why = document["files"], document["why"]
    if not isinstance(files, list) or not files or not all(isinstance(file, str) for file in files):
        raise BadFile("`files` has to be a list of the names of frozen files, one at least")
    if len(set(files)) < len(files):
        raise BadFile("`files` names a file twice")
    if not isinstance(why, str) or not why.strip(" .\n") or "\n" in why.strip():
        raise BadFile("`why` has to be a sentence that says why they are left out")
    return files, why.strip()


def _refused(place: Place, file: str, bound: set[str]) -> str | None:
    """Why a file cannot be left out; None where it can."""
    if file in (PLAN, place.name(place.plan), f"results/{FREEZE}", f"results/{LEDGER}"):
        return "may not be left out: plan, freeze and ledger are what everything else is compared with"
    if file.startswith("results/test/") or file.endswith(".parquet"):
        return "may not be left out: results are counted in the tables of episodes"
    if file not in bound:
        return "is listed as left out, but the freeze does not bind it"
    path = place.path(file)
    if path.exists() or path.is_symlink():
        return "is listed as left out, but lies here"
    return None
