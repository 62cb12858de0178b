"""Artifacts: content-addressed folders with manifests, written whole or not at all.

A reader never sees half a file: everything is written under a temporary name in the destination's own folder,
synced, and renamed. An artifact is a folder whose name is the hash of what determines its content (kind,
configuration, inputs); `manifest.json` inside lists the SHA-256 of every file, so damage is found and named.
"""

from blindsave.store.artifacts import MANIFEST, SCHEMA, Artifact, Built, address, artifact_folder, make, open_artifact
from blindsave.store.hashing import (
    SOURCE,
    canonical_json,
    code_files,
    code_sha256,
    digest,
    files_below,
    sha256_file,
    sha256_tree,
)
from blindsave.store.leftovers import process_alive, sweep_all, sweep_process
from blindsave.store.locks import held
from blindsave.store.origins import git_state, machine, provenance
from blindsave.store.writing import TEMPORARY, json_text, needs_room, read_json, sync, write_json, write_whole

__all__ = [
    "MANIFEST",
    "SCHEMA",
    "SOURCE",
    "TEMPORARY",
    "Artifact",
    "Built",
    "address",
    "artifact_folder",
    "canonical_json",
    "code_files",
    "code_sha256",
    "digest",
    "files_below",
    "git_state",
    "held",
    "json_text",
    "machine",
    "make",
    "needs_room",
    "open_artifact",
    "process_alive",
    "provenance",
    "read_json",
    "sha256_file",
    "sha256_tree",
    "sweep_all",
    "sweep_process",
    "sync",
    "write_json",
    "write_whole",
]
