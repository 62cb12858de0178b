"""Artifacts: folders named by the hash of what determines their content, each with a manifest of its files."""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from blindsave.errors import BadFile, Damaged
from blindsave.store.hashing import digest, files_below, sha256_file
from blindsave.store.leftovers import sweep
from blindsave.store.origins import provenance
from blindsave.store.writing import needs_room, read_json, sync, temporary_name, write_json

SCHEMA = "blindsave.artifact.v1"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Artifact:
    """A finished artifact: its folder and its verified manifest."""

    folder: Path
    manifest: dict[str, Any]

    def path(self, name: str) -> Path:
        """The path of one of the artifact's files; an unknown name is a `BadFile`."""
        if name not in self.manifest["files"]:
            raise BadFile(f"{self.folder} holds no file {name!r}")
        return self.folder / name

    @property
    def sha256(self) -> str:
        """The hash that binds everything in the artifact: the hash its manifest carries of itself."""
        return self.manifest["manifest_sha256"]


class Built(NamedTuple):
    """What a `build` may return beside a bare summary: seconds that went into the artifact before."""

    result: Mapping[str, Any]
    earlier_s: float


def address(kind: str, configuration: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """The name of an artifact: a hash of what determines its content."""
    return digest({"kind": kind, "configuration": dict(configuration), "inputs": dict(inputs)})[:24]


def artifact_folder(root: str | Path, kind: str, configuration: Mapping[str, Any], inputs: Mapping[str, str]) -> Path:
    """Where the artifact of this kind, configuration and inputs lies (whether or not it exists yet)."""
    return Path(root) / kind / address(kind, configuration, inputs)


def make(
    root: str | Path,
    kind: str,
    configuration: Mapping[str, Any],
    inputs: Mapping[str, str],
    build: Callable[[Path], Mapping[str, Any] | Built | None],
) -> Artifact:
    """Return the artifact, building it only where it does not exist yet.

    `inputs` maps names to SHA-256; `build` fills the folder it is given and may return a JSON summary, kept
    in the manifest as `result`. An existing artifact is verified in full; a damaged one is refused, never
    rebuilt silently.
    """
    folder = artifact_folder(root, kind, configuration, inputs)
    if folder.exists():
        return open_artifact(folder)
    with needs_room(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        temporary = temporary_name(folder)
        temporary.mkdir()
        started = time.perf_counter()
        try:
            made = build(temporary)
            result, earlier_s = made if isinstance(made, Built) else (made, 0.0)
            wall_s = round(earlier_s + time.perf_counter() - started, 3)
            _seal(temporary, kind, configuration, inputs, result, wall_s)
            try:
                os.rename(temporary, folder)
            except OSError:  # another process finished the same artifact first: its content is the same by construction
                if not folder.exists():
                    raise
            sync(folder.parent)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return open_artifact(folder)


def open_artifact(folder: str | Path, *, verify: bool = True, named: bool = True) -> Artifact:
    """Open an artifact; with `verify` every byte is checked. The first damaged file is named (`Damaged`).

    In a store the folder's name is the content's address; without `named` a copy may be called anything.
    """
    root = Path(folder)
    try:
        manifest = read_json(root / MANIFEST)
    except BadFile as error:
        raise Damaged(str(error), root) from error
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise Damaged(f"{root / MANIFEST} is not a manifest of schema {SCHEMA}", root)
    body = {key: value for key, value in manifest.items() if key != "manifest_sha256"}
    if digest(body) != manifest.get("manifest_sha256"):
        raise Damaged(f"{root / MANIFEST} is damaged: its own hash does not match", root)
    if named and address(body["kind"], body["configuration"], body["inputs"]) != root.name:
        raise BadFile(f"{root} is not where its manifest belongs: the folder's name is not the content's address")
    if verify:
        _verify_files(root, body["files"])
    return Artifact(root, manifest)


def _seal(
    folder: Path,
    kind: str,
    configuration: Mapping[str, Any],
    inputs: Mapping[str, str],
    result: Mapping[str, Any] | None,
    wall_s: float,
) -> None:
    """Sync every file of an unfinished artifact and write its manifest last."""
    files = {}
    for path in files_below(folder):
        sync(path)
        files[path.relative_to(folder).as_posix()] = {
            "sha256": sha256_file(path),
            "bytes": path.stat().st_size,
        }
    for path in sorted(p for p in folder.rglob("*") if p.is_dir()):
        sync(path)
    body = {
        "schema": SCHEMA,
        "kind": kind,
        "configuration": dict(configuration),
        "inputs": dict(inputs),
        "files": files,
        "result": dict(result or {}),
        "provenance": provenance(),
        "wall_s": wall_s,
    }
    write_json(folder / MANIFEST, body | {"manifest_sha256": digest(body)})


def _verify_files(root: Path, files: Mapping[str, Mapping[str, Any]]) -> None:
    present = {path.relative_to(root).as_posix() for path in files_below(root)} - {MANIFEST}
    for name in sorted(present - files.keys()):
        raise Damaged(f"{root / name} does not belong to the artifact it lies in", root)
    for name, entry in files.items():
        path = root / name
        if name not in present:
            raise Damaged(f"{path} is missing from its artifact", root)
        if path.stat().st_size != entry["bytes"] or sha256_file(path) != entry["sha256"]:
            raise Damaged(f"{path} is damaged: its SHA-256 is not the one in {MANIFEST}", root)
