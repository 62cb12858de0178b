"""Freeze: one manifest that binds checkpoints, datasets, validation tables, efficiency files, plan and code.

The bound part holds no dates and no machine, so freezing the same content twice gives the same hash; the seed of the
sealed test is derived from that hash and from nothing else.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.plan import Plan, load_plan

SCHEMA = "blindsave.freeze.v1"
SEALED_SPLIT = "sealed_test"
SEALED_DISTRIBUTION = "direct_launch_v3_sealed_test_v1"
DECIDING = ("arena", "task", "policies", "learning", "evidence", "store", "tensors.py")
"""The packages that can change a result. Everything else draws, measures, checks or tells, and may change freely."""
DECLARATION = "No outcome on any test shot has been looked at before this manifest was written."


@dataclass(frozen=True)
class Frozen:
    """A verified freeze manifest: what is bound, below which root, and the hash of it all."""

    path: Path
    root: Path
    body: Mapping[str, Any]
    sha256: str

    @property
    def plan(self) -> Plan:
        """The bound plan."""
        return load_plan(self.root / self.body["plan"]["path"])

    @property
    def sealed_seed(self) -> int:
        """Seed of the sealed test's shots."""
        return sealed_seed(self.sha256)

    def policy_file(self, policy: str, training_seed: int) -> Path:
        """The bound checkpoint of a policy."""
        return self.root / self.body["policies"][f"{policy}/{training_seed}"]


def sealed_seed(freeze_sha256: str) -> int:
    """First 8 bytes, big-endian, of SHA-256 over "blindsave.sealed_test.v1:" and the freeze hash in hex."""
    text = f"blindsave.sealed_test.v1:{freeze_sha256}"
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big")


def freeze(
    plan: Plan,
    root: str | Path,
    out: str | Path,
    ledger: Ledger,
    groups: Mapping[str, Sequence[Path]] | None = None,
    code: Path | None = None,
) -> Frozen:
    """Bind everything the plan names below `root` and write the manifest to `out`.

    `groups` names further files to bind, or replaces the plan's patterns for a group of the same name. A different
    manifest may replace an older one until the test is opened; every freeze is written to the ledger.
    """
    base = Path(root).resolve()
    body = _body(plan, base, groups or {}, code or store.SOURCE)
    sha256 = store.digest(body)
    target = Path(out)
    with ledger.lock():
        if ledger.last("opening") is not None:
            raise BadInput(f"the test has been opened ({ledger.path}); nothing can be frozen any more")
        document = {"body": body, "freeze_sha256": sha256, "provenance": store.provenance()}
        if not target.exists() or store.read_json(target).get("freeze_sha256") != sha256:
            store.write_json(target, document | {"manifest_sha256": store.digest(document)})
        newest = ledger.last("freeze")
        if newest is None or newest.content["freeze_sha256"] != sha256:
            ledger.append("freeze", {"freeze_sha256": sha256, "plan_sha256": plan.sha256})
    return Frozen(target, base, body, sha256)


def open_frozen(path: str | Path, root: str | Path, code: Path | None = None) -> Frozen:
    """Verify a manifest and every file it binds; the first changed, missing or added file is named."""
    document = store.read_json(path)
    body = document.get("body") if isinstance(document, dict) else None
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise BadFile(f"{path} is not a freeze manifest of schema {SCHEMA}")
    unsigned = {key: value for key, value in document.items() if key != "manifest_sha256"}
    if store.digest(unsigned) != document.get("manifest_sha256") or store.digest(body) != document["freeze_sha256"]:
        raise BadFile(f"{path} was changed since it was written: its own hash does not match")
    base = Path(root).resolve()
    bound = {name: sha for group in body["groups"].values() for name, sha in group.items()}
    bound[body["plan"]["path"]] = body["plan"]["sha256"]
    for name, sha256 in sorted(bound.items()):
        _same(base / name, sha256)
    _same_code(body["code"], code or store.SOURCE)
    return Frozen(Path(path), base, body, document["freeze_sha256"])


def _body(plan: Plan, base: Path, groups: Mapping[str, Sequence[Path]], code: Path) -> dict[str, Any]:
    checkpoints = {f"{policy}/{seed}": plan.checkpoint(policy, seed) for policy, seed in plan.runs}
    bound = {"checkpoints": _hashes(base, [base / name for name in checkpoints.values()])}
    for group, wanted in plan.freeze_groups.items():
        files = groups.get(group)
        if files is None:
            files = sorted({path for pattern in wanted["files"] for path in base.glob(pattern)})
        if not files or len(files) != wanted.get("count", len(files)):
            want = wanted.get("count", "at least 1")
            raise BadFile(f"the plan binds {want} file(s) of '{group}', found {len(files)} below {base}")
        bound[group] = _hashes(base, files)
    for group in groups.keys() - plan.freeze_groups.keys():
        bound[group] = _hashes(base, groups[group])
    return {
        "schema": SCHEMA,
        "title": plan.title,
        "plan": {"path": _relative(base, plan.path), "sha256": plan.sha256},
        "policies": checkpoints,
        "groups": bound,
        "code": code_hashes(code),
        "declaration": DECLARATION,
    }


def _hashes(base: Path, files: Sequence[Path]) -> dict[str, str]:
    return {_relative(base, path): store.sha256_file(path) for path in files}


def _relative(base: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(base).as_posix()
    except ValueError as error:
        raise BadInput(f"{path} cannot be bound: it lies outside {base}") from error


def _same(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise BadFile(f"{path} was frozen and is now missing")
    if store.sha256_file(path) != sha256:
        raise BadFile(f"{path} was changed after the freeze")


def code_hashes(code: Path) -> dict[str, str]:
    """SHA-256 of every source file that decides results, by its path below the package."""
    return {path.relative_to(code).as_posix(): store.sha256_file(path) for path in store.code_files(code, *DECIDING)}


def _same_code(frozen: Mapping[str, str], code: Path) -> None:
    present = code_hashes(code)
    for name in sorted(frozen.keys() | present.keys()):
        if name not in frozen:
            raise BadFile(f"{code / name} was added after the freeze")
        _same(code / name, frozen[name])
