"""Ask every node of a Ray cluster whether it can work on a study, before anything is begun."""

import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from blindsave import store
from blindsave.errors import BadInput

ANSWER_WITHIN_S = 120.0
EXTENSIONS = (".so", ".pyd")


def check_nodes(folder: Path) -> None:
    """Refuse, in one sentence, a node that does not see the folder or does not run the same code."""
    token = secrets.token_hex(16)
    probe = store.write_whole(folder / f".probe-{token}", token)
    try:
        asked = {
            node["NodeManagerAddress"]: _ask(node["NodeID"], probe)
            for node in ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU")
        }
        mine = report(probe)
        for name, reference in asked.items():
            try:
                found = json.loads(ray.get(reference, timeout=ANSWER_WITHIN_S))
            except RayError as error:
                raise BadInput(f"the Ray node {name} cannot run blindsave ({str(error).splitlines()[-1]})") from error
            sentence = complaint(folder, name, mine, found)
            if sentence:
                raise BadInput(sentence)
    finally:
        probe.unlink(missing_ok=True)


def report(probe: Path) -> dict[str, Any]:
    """What a node sees and runs."""
    package = store.SOURCE
    return {
        "seen": probe.read_text() if probe.is_file() else None,
        "code": store.code_sha256(),
        "compiled": sorted(path.name.partition(".")[0] for path in package.rglob("*") if path.suffix in EXTENSIONS),
        "libraries": store.provenance()["libraries"],
    }


def complaint(folder: Path, node: str, mine: Mapping[str, Any], found: Mapping[str, Any]) -> str | None:
    """What is wrong with a node, if anything."""
    if found["seen"] != mine["seen"]:
        return unseen(node, folder)
    if found["code"] != mine["code"]:
        return f"the Ray node {node} has another version of blindsave: results could differ"
    if found["compiled"] != mine["compiled"]:
        where = f"on the Ray node {node}" if len(mine["compiled"]) > len(found["compiled"]) else "here"
        return f"blindsave was installed without all its compiled parts {where}: results could differ"
    for name in sorted(mine["libraries"].keys() | found["libraries"].keys()):
        here, there = mine["libraries"].get(name), found["libraries"].get(name)
        if here != there:
            return f"the Ray node {node} has {name} {there}, not {here}: results could differ"
    return None


def unseen(node: str, folder: Path | str) -> str:
    """A node does not share the disk."""
    return f"the Ray node {node} does not see {folder}: a study on Ray needs a folder on a disk that all nodes share"


def _ask(node: str, probe: Path) -> Any:
    options: dict[str, Any] = {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}
    return ray.remote(**options)(_report).remote(str(probe))


def _report(probe: str) -> str:
    return json.dumps(report(Path(probe)))
