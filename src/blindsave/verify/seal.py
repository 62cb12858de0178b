"""Plan, freeze and ledger: does each name the others, and is everything they bind still what it was?"""

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blindsave import store
from blindsave.errors import BadFile
from blindsave.evidence import freeze
from blindsave.evidence.ledger import Entry, Ledger
from blindsave.evidence.plan import Plan, load_plan
from blindsave.verify.findings import CODE_CHANGED, Findings
from blindsave.verify.left_out import check_left_out
from blindsave.verify.places import FREEZE, LEDGER, PLAN, Place

ORDER = ("freeze", "opening", "results")


@dataclass(frozen=True)
class Seal:
    """What could be read of a study's seal, right or wrong."""

    plan: Plan | None
    body: Mapping[str, Any]
    """What the freeze binds; empty where there is no readable one."""
    sha256: str | None
    """The freeze hash."""
    entries: tuple[Entry, ...]
    left_out: frozenset[str] = frozenset()
    """Names of bound files that are absent on purpose."""

    @property
    def absent(self) -> frozenset[str]:
        """Policies (FAMILY/SEED) whose files are left out."""
        files = self.body.get("policies", {}) if self.left_out else {}
        return frozenset(policy for policy, file in files.items() if file in self.left_out)

    def last(self, kind: str) -> Mapping[str, Any] | None:
        """Content of the newest ledger line of a kind."""
        return next((entry.content for entry in reversed(self.entries) if entry.kind == kind), None)


def check_seal(place: Place, found: Findings) -> Seal:
    """Read and check the seal; the files that it binds are checked too."""
    entries = _ledger(place, found)
    body, sha256 = _manifest(place, found)
    plan = None
    with found.reading(place.name(place.plan), "plans"):
        plan = load_plan(place.plan)
    seal = Seal(plan, body, sha256, tuple(entries), check_left_out(place, body, found))
    with found.reading(f"results/{LEDGER}"):
        _story(place, seal, found)
    if body:
        with found.reading(f"results/{FREEZE}"):
            _bound(place, seal, found)
    for name in (LEDGER, FREEZE):
        for path in sorted(place.results.rglob(name)):
            inside = path.relative_to(place.results).parts
            further = len(inside) == 3 and (path.parent / PLAN).is_file()  # a whole study, such as teachers/seed_7304
            if len(inside) > 1 and not further:
                found.fail(place.name(path), f"a study has one {name}, and this is a second one")
    return seal


def _ledger(place: Place, found: Findings) -> list[Entry]:
    """The ledger's lines; where the chain is broken, those that can be read, so that the rest can be compared."""
    path, name = place.results / LEDGER, f"results/{LEDGER}"
    if not path.is_file():
        found.fail(name, "is missing: nothing says what was frozen and when the test was opened")
        return []
    try:
        entries = Ledger(path).entries()
        found.require(path.read_bytes().endswith(b"\n"), name, "ends in half a line")
    except BadFile as error:
        found.fail(name, str(error))
        entries = []
        for line in path.read_bytes().split(b"\n"):
            try:
                entries.append(Entry(**json.loads(line)))
            except (ValueError, TypeError):
                continue
    found.checked["ledger_lines"] = len(entries)
    return entries


def _manifest(place: Place, found: Findings) -> tuple[Mapping[str, Any], str | None]:
    name = f"results/{FREEZE}"
    with found.reading(name, "freezes"):
        document = store.read_json(place.results / FREEZE)
        body = document["body"]
        unsigned = {key: value for key, value in document.items() if key != "manifest_sha256"}
        if body.get("schema") != freeze.SCHEMA:
            raise BadFile(f"is not a freeze manifest of schema {freeze.SCHEMA}")
        whole = store.digest(unsigned) == document.get("manifest_sha256")
        found.require(whole, name, "was changed since it was written: its own hash does not match")
        found.require(store.digest(body) == document["freeze_sha256"], name, "its freeze hash is not that of its body")
        return body, store.digest(body)
    return {}, None


def _story(place: Place, seal: Seal, found: Findings) -> None:
    """What the ledger tells must have happened in order, once, and to this study."""
    name = f"results/{LEDGER}"
    kinds = [entry.kind for entry in seal.entries]
    ranks = [ORDER.index(kind) if kind in ORDER else len(ORDER) for kind in kinds]
    found.require(ranks == sorted(ranks), name, f"its lines are out of order: {', '.join(kinds)}")
    for kind in ORDER[1:]:
        found.require(kinds.count(kind) < 2, name, f"holds {kinds.count(kind)} lines '{kind}'")
    for kind, before in zip(ORDER[1:], ORDER, strict=False):
        found.require(kind not in kinds or before in kinds, name, f"holds a line '{kind}' but none '{before}'")
    times = [datetime.datetime.fromisoformat(entry.time) for entry in seal.entries]
    found.require(times == sorted(times), name, "its times go backwards")
    frozen, opening, results = (seal.last(kind) for kind in ORDER)
    if frozen is None:
        found.require(not seal.entries, name, "knows of no freeze")
        return
    found.require(frozen["freeze_sha256"] == seal.sha256, f"results/{FREEZE}", "is not the freeze the ledger names")
    if seal.plan:
        same = frozen["plan_sha256"] == seal.plan.sha256
        found.require(same, place.name(place.plan), "is not the plan the ledger's freeze names")
    for kind, content in (("opening", opening), ("results", results)):
        if content is not None:
            same = content["freeze_sha256"] == frozen["freeze_sha256"]
            found.require(same, name, f"its line '{kind}' belongs to another freeze")
    if opening is not None:
        seed = freeze.sealed_seed(frozen["freeze_sha256"])
        found.require(opening["sealed_seed"] == seed, name, "the sealed seed of its opening is not that of the freeze")
    if results is not None:
        openings = [entry.sha256 for entry in seal.entries if entry.kind == "opening"]
        found.require(results["opening_sha256"] in openings, name, "its results belong to another opening")


def _bound(place: Place, seal: Seal, found: Findings) -> None:
    body = seal.body
    _same(place, body["plan"]["path"], body["plan"]["sha256"], found)
    for group, files in body["groups"].items():
        here = {name: sha256 for name, sha256 in files.items() if name not in seal.left_out}
        for name, sha256 in sorted(here.items()):
            _same(place, name, sha256, found)
            found.checked[group] += 1
        patterns = seal.plan.freeze_groups.get(group, {}).get("files", ()) if seal.plan else ()
        for name in {name for pattern in patterns for name in place.matching(pattern)} - files.keys():
            found.fail(name, "was added after the freeze")
    for policy, name in body["policies"].items():
        found.require(name in body["groups"]["checkpoints"], name, f"is named for {policy} but not bound")
    for name in sorted(body["groups"].get("datasets", {}).keys() - seal.left_out):
        with found.reading(name):  # what was bound of a dataset's manifest: where it came from, and its files' hashes
            manifest = store.read_json(place.path(name))
            store.address(manifest["kind"], manifest["configuration"], manifest["inputs"])
            whole = all(len(entry["sha256"]) == 64 for entry in manifest["files"].values())
            found.require(whole, name, "does not give the hash of every file")
    present = freeze.code_hashes(store.SOURCE)
    changed = sum(body["code"].get(name) != present.get(name) for name in body["code"].keys() | present.keys())
    found.checked["code_files_unchanged"] = sum(sha256 == present.get(name) for name, sha256 in body["code"].items())
    if changed:
        found.notes.append(f"{CODE_CHANGED}: {changed} files")


def _same(place: Place, name: str, sha256: str, found: Findings) -> None:
    path = place.plan if name == PLAN else place.path(name)
    if not path.is_file():
        found.fail(name, "was frozen and is now missing")
    elif store.sha256_file(path) != sha256:
        found.fail(name, "was changed after the freeze")
