"""Artifacts: content-addressed folders with manifests, written whole or not at all.

A reader never sees half a file: everything is written under a temporary name in the destination's own folder,
synced, and renamed. An artifact is a folder whose name is the hash of what determines its content (kind,
configuration, inputs); `manifest.json` inside lists the SHA-256 of every file, so damage is found and named.
"""

import contextlib
import errno
import functools
import hashlib
import json
import os
import platform
import secrets
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from blindsave.errors import BadFile, BadInput, Damaged, DiskFull

SCHEMA = "blindsave.artifact.v1"
MANIFEST = "manifest.json"
TEMPORARY = ".tmp-"
LIBRARIES = ("mujoco", "numpy", "pyarrow", "safetensors", "gymnasium", "jax", "jaxlib", "optax", "torch")
ABANDONED_AFTER_S = 3600.0
SOURCE = Path(__file__).resolve().parent
"""This package's own files."""


def canonical_json(value: Any) -> str:
    """The one text a JSON value has here: sorted keys, no spaces, no NaN; equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(value: Any) -> str:
    """SHA-256 (hex) of a JSON value's canonical text."""
    return hashlib.sha256(canonical_json(value).encode("ascii")).hexdigest()


def sha256_file(path: str | Path) -> str:
    """SHA-256 (hex) of a file's bytes; a missing file is a `BadFile`."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error


def files_below(folder: str | Path) -> list[Path]:
    """Every regular file below a folder, in the order of their relative POSIX paths."""
    root = Path(folder)
    return sorted((p for p in root.rglob("*") if p.is_file()), key=lambda p: p.relative_to(root).as_posix())


def sha256_tree(folder: str | Path, files: Iterable[Path] | None = None) -> str:
    """One SHA-256 over relative paths and contents of a folder's files (all, unless `files` says which)."""
    root = Path(folder)
    listed = files_below(root) if files is None else files
    return digest({path.relative_to(root).as_posix(): sha256_file(path) for path in listed})


def write_whole(path: str | Path, data: bytes | str | Callable[[Path], object]) -> Path:
    """Write a file whole or not at all, and durably; returns the path.

    `data` is the content, or a function that writes it to the temporary path it is given (which keeps the
    final name's suffix, so libraries that look at it behave). Missing parent folders are made.
    """
    target = Path(path)
    temporary = _temporary(target)
    with needs_room(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if callable(data):
                data(temporary)
            else:
                temporary.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
            sync(temporary)
            os.replace(temporary, target)
            sync(target.parent)
        finally:
            temporary.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def needs_room(folder: Path) -> Iterator[None]:
    """Say in one sentence that the disk is full where it is."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        sentence = f"there is no room left on the disk that holds {folder}; make room and run the same command again"
        raise DiskFull(sentence) from error


@contextlib.contextmanager
def held(lock: Path, refusal: str) -> Iterator[None]:
    """Hold a lock file alone; while another process does, this is refused with a sentence and that process's number.

    The operating system lets go of it when a process ends, however it ends, so no lock is ever stale.
    """
    import fcntl

    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise BadInput(f"{refusal} (process {file.read().strip() or 'unknown'})") from error
        with needs_room(lock.parent):
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield


def write_json(path: str | Path, value: Any) -> Path:
    """Write a JSON value's readable text, whole or not at all."""
    return write_whole(path, json_text(value))


def json_text(value: Any) -> str:
    """Readable, deterministic JSON: sorted keys, two spaces, final newline."""
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_json(path: str | Path) -> Any:
    """Read JSON; a missing or damaged file is a `BadFile` that names it."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is damaged: it is not JSON ({error})") from error


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
        _sweep(folder)
        temporary = _temporary(folder)
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


def provenance() -> dict[str, Any]:
    """What ran: package and library versions, git commit if any, and the machine (never its name)."""
    return {
        "blindsave": _package_version(),
        "python": platform.python_version(),
        "libraries": {name: version for name in LIBRARIES if (version := _version(name)) is not None},
        "git": git_state(),
        "machine": machine(),
    }


@functools.cache
def machine() -> dict[str, Any]:
    """CPU model, core count and operating system."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "os": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
    }


@functools.cache
def git_state() -> dict[str, Any] | None:
    """Commit of the checkout this package runs from, and whether it has uncommitted changes; else None."""
    here = Path(__file__).resolve().parent
    try:
        commit = _git(here, "rev-parse", "HEAD")
        return {"commit": commit, "dirty": bool(_git(here, "status", "--porcelain", "--", str(here)))}
    except (OSError, subprocess.SubprocessError):
        return None


def code_files(source: Path, *packages: str) -> list[Path]:
    """The source files (`.py`, `.c`, `.h`, `.inc`) below a folder, of the named packages or of all."""
    kinds = {".py", ".c", ".h", ".inc"}
    return [
        path
        for path in files_below(source)
        if path.suffix in kinds and (not packages or path.relative_to(source).parts[0] in packages)
    ]


@functools.cache
def code_sha256(*packages: str, source: Path = SOURCE) -> str:
    """One hash over this package's source files, of the named packages or of all."""
    return sha256_tree(source, code_files(source, *packages))


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


def _temporary(target: Path) -> Path:
    return target.with_name(f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}-{target.name}")


def _sweep(folder: Path) -> None:
    """Remove what killed runs left of this artifact: old temporaries whose process is gone."""
    for path in folder.parent.glob(f"{TEMPORARY}*-{folder.name}"):
        pid = path.name.removeprefix(TEMPORARY).partition("-")[0]
        old = time.time() - path.stat().st_mtime > ABANDONED_AFTER_S
        if old and pid.isdigit() and not process_alive(int(pid)):
            shutil.rmtree(path, ignore_errors=True)


def sweep_process(root: Path, pid: int) -> None:
    """Remove what a process that has ended left unfinished below a folder."""
    for path in sorted(root.rglob(f"{TEMPORARY}{pid}-*")):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)


def sweep_all(root: Path) -> None:
    """Remove everything unfinished below a folder, when nobody is at work there."""
    for pid in {path.name.removeprefix(TEMPORARY).partition("-")[0] for path in root.rglob(f"{TEMPORARY}*")}:
        if pid.isdigit():
            sweep_process(root, int(pid))


def process_alive(pid: int) -> bool:
    """Whether a process with this number runs on this machine, ours or not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def sync(path: Path) -> None:
    """Force a file's or folder's content to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()


def _package_version() -> str:
    from blindsave import __version__

    return __version__


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
