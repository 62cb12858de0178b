"""The analysis plan of a study: the published one at paper scale, the same plan cut down for smaller ones."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.stages.questions import Questions, answered_by_the_paper, as_written, made_contrasts, usual_reference
from blindsave.stages.scales import PAPER, SCALES, Scale
from blindsave.stages.site import PLUGINS, Site
from blindsave.task.conditions import CLEAN_NAME
from blindsave.verify.places import PLAN, brought

HEADING = "# Made by `blindsave study` from protocol.toml for a study at other budgets.\n"


def write_plan(site: Site) -> Path:
    """Write the study's plan beside its results."""
    return store.write_whole(site.plan, plan_text(site))


def plan_text(site: Site) -> str:
    """The study's plan."""
    published = published_plan().read_text(encoding="utf-8")
    if replace(site.scale, train_teacher=False) == PAPER:
        return published
    return HEADING + to_toml(reduced(tomllib.loads(published), site.scale))


def refuse_other_plan(site: Site) -> None:
    """Once a folder's test is open its plan stays: a study with another one is refused before it writes anything."""
    if site.ledger.last("opening") is None or not site.plan.is_file():
        return
    if tomllib.loads(site.plan.read_text(encoding="utf-8")) != tomllib.loads(plan_text(site)):
        raise BadInput(f"the test of {site.folder} was opened for other families, seeds or tests: use another --folder")


def published_plan() -> Path:
    """The plan that came with this package."""
    path = brought() / PLAN
    if not path.is_file():
        raise BadFile(f"the analysis plan {path} is missing: this package is not whole")
    return path


def reduced(document: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """The plan with the scale's policies, seeds and grids; what nobody can decide any more is dropped."""
    asked = scale.questions or Questions()
    seeds = list(scale.training_seeds)
    endpoint = dict(document["endpoint"]) | {"blackout": scale.endpoint, "splits": list(scale.test_splits)}
    ms = 20 * endpoint["blackout"]
    if asked.margin_points is not None:
        endpoint["equivalence_margin_points"] = asked.margin_points
    endpoint["statement"] = f"save rate with the puck hidden for {ms} ms, mean over {len(seeds)} training seeds"
    freeze = dict(document["freeze"])
    groups = {name: dict(group) for name, group in freeze["groups"].items()}
    if any(sha256 for _, sha256 in scale.plugins):
        groups["plugins"] = {"files": [f"{PLUGINS}/*.py"]}
    if not scale.opens_principal_test:
        groups["efficiency"] = {"files": ["results/efficiency/accounting.json"]}
    # The published plan is one study's: its name and the method it chose for itself are not for others.
    title, _, _ = document["title"].partition(" (")
    statistics = {name: value for name, value in document["statistics"].items() if name != "method"}
    return dict(document) | {
        "title": f"{title} ({f'{scale.name} scale' if scale.name in SCALES else f'study {scale.name}'})",
        "policies": _policies(document, scale),
        "endpoint": endpoint,
        "grids": _grids(scale),
        "statistics": statistics | ({} if asked.method is None else {"method": asked.method}),
        "contrasts": _contrasts(document, scale, asked),
        "hypotheses": _hypotheses(document, scale, asked, endpoint),
        "freeze": freeze | {"groups": groups},
        **({"report": {"figures": list(scale.figures)}} if scale.figures else {}),
    }


def _contrasts(document: Mapping[str, Any], scale: Scale, asked: Questions) -> dict[str, list[list[str]]]:
    """The file's own differences; else the published ones, where they concern every family; else the usual ones."""
    if asked.contrasts is not None:
        return {name: [list(pair) for pair in pairs] for name, pairs in asked.contrasts}
    if asked.reference is not None or not answered_by_the_paper(scale.families):
        return made_contrasts(scale.families, asked.reference or usual_reference(scale.families), scale.noisy)
    known = _known(document, scale)
    return {name: [pair for pair in pairs if set(pair) <= known] for name, pairs in document["contrasts"].items()}


def _hypotheses(
    document: Mapping[str, Any], scale: Scale, asked: Questions, endpoint: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The file's own hypotheses, or those of the published ones that the study can decide."""
    if asked.hypotheses is not None:
        return [as_written(one) for one in asked.hypotheses]
    known = _known(document, scale)
    found = [h for h in document["hypotheses"] if {h["a"], h["b"]} <= known]
    return [h for h in found if h.get("split") != "noise_test" or _disturbed(h, endpoint, scale)]


def _policies(document: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    said = dict(document["policies"]) | {"families": list(scale.families), "training_seeds": list(scale.training_seeds)}
    guests = {name: [seed for seed, _ in files] for name, files in scale.guests}
    return said | ({"guests": guests} if guests else {})


def _known(document: Mapping[str, Any], scale: Scale) -> set[str]:
    return {*scale.families, document["policies"]["reference"]}


def _disturbed(hypothesis: Mapping[str, Any], endpoint: Mapping[str, Any], scale: Scale) -> bool:
    """Whether the noise extension plays what a hypothesis about noise asks for."""
    takes_part = {hypothesis["a"], hypothesis["b"]} <= set(scale.noisy)
    return (
        takes_part and hypothesis["disturbance"] in scale.conditions and endpoint["blackout"] in scale.noise_blackouts
    )


def _grids(scale: Scale) -> dict[str, Any]:
    clean = {"conditions": [CLEAN_NAME]}
    grids: dict[str, Any] = {"validation": {"blackouts": list(scale.validation_blackouts), **clean}}
    grids |= {split: {"blackouts": list(scale.test_blackouts), **clean} for split in scale.test_splits}
    if scale.sealed_times > 1:
        grids["sealed_test"] = grids["sealed_test"] | {"times": scale.sealed_times}
    if scale.noisy and scale.conditions:
        noise = {"blackouts": list(scale.noise_blackouts), "conditions": list(scale.conditions)}
        grids["noise_test"] = noise | {"policies": list(scale.noisy)}
    return grids


def to_toml(document: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """TOML of nested tables, lists of tables, and JSON-like values (JSON's strings, numbers and lists are TOML's)."""
    plain = {k: v for k, v in document.items() if not isinstance(v, Mapping) and not _tables(v)}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    for key, value in document.items():
        name = ".".join((*path, key))
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]", to_toml(value, (*path, key))]
        elif _tables(value):
            for row in value:
                lines += ["", f"[[{name}]]", to_toml(row, (*path, key))]
    return "\n".join(lines) + ("" if path else "\n")


def _tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)
