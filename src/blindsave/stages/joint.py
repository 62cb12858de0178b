"""The studies of one study file as a whole: what is kept of the file, and what all its teachers' students saved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadInput
from blindsave.stages.site import PLUGINS, Site
from blindsave.stages.study_file import StudyFile

TEXT, PARSED, SUMMARY = "study.toml", "study.json", "summary.json"
SCHEMA = "blindsave.study.v1"


def keep(file: StudyFile, folder: Path, sites: Mapping[str, Site]) -> None:
    """Keep the file's text and what was understood of it; once a test is open, nothing that decided it may change."""
    scale = file.scale.to_dict()
    kept = folder / PARSED
    if kept.is_file() and store.read_json(kept)["scale"] != scale:
        opened = [site for site in sites.values() if site.ledger.path.is_file() and site.ledger.last("opening")]
        if opened:
            raise BadInput(
                f"{file.path} is no longer the study whose test {opened[0].folder} has opened: use another --folder"
            )
    folder.mkdir(parents=True, exist_ok=True)
    store.write_whole(folder / TEXT, file.text)
    for site in sites.values():
        for name, content in file.plugins.items():
            site.publish(site.folder / PLUGINS / name, content)
        for (name, seed), content in file.guests.items():
            site.publish(site.guest_file(name, seed), content)
    teachers = {name: site.folder.relative_to(folder).as_posix() for name, site in sites.items()}
    store.write_json(kept, {"schema": SCHEMA, "name": file.scale.name, "scale": scale, "teachers": teachers})


def study_folders(folder: Path) -> dict[str, Path]:
    """The studies of a folder by teacher; one without a name where no study file named any."""
    kept = folder / PARSED
    if not kept.is_file():
        return {"": folder}
    return {name: folder / place for name, place in store.read_json(kept)["teachers"].items()}


def summarise(file: StudyFile, folder: Path, found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any] | None:
    """Save rates by split, teacher, policy and blackout, also as summary.json; None before every test is open.

    `found` holds, by teacher, what running its study gave: `save_rates`, `contrasts` (of `planned_contrasts`) and
    `report`.
    """
    if not all(result["save_rates"] for result in found.values()):
        return None
    splits = file.scale.test_splits
    summary = {
        "study": file.scale.name,
        "families": list(file.scale.families),
        "training_seeds": list(file.scale.training_seeds),
        "teachers": {name: {"report": _below(folder, result["report"])} for name, result in found.items()},
        "save_rates": {split: {name: found[name]["save_rates"][split] for name in found} for split in splits},
        "contrasts": {split: {name: found[name]["contrasts"][split] for name in found} for split in splits},
    }
    store.write_json(folder / SUMMARY, summary)
    return summary


def planned_contrasts(site: Site) -> dict[str, list[dict[str, Any]]]:
    """The planned differences between families at the endpoint, by split; nothing where no test is open yet."""
    from blindsave.evidence import tables
    from blindsave.evidence.mrmc import principal_by
    from blindsave.evidence.plan import load_plan
    from blindsave.evidence.principal import principal
    from blindsave.evidence.saves import saves

    found = {}
    for split in site.scale.test_splits:
        path = site.results / "test" / f"{split}.parquet"
        if path.is_file():
            plan, dense = load_plan(site.plan), saves(tables.read(path), split)
            whole = principal_by(plan.method, principal(dense), dense)
            pairs = [pair for name in ("primary", "secondary") for pair in plan.contrasts.get(name, ())]
            found[split] = [whole.difference(a, b, plan.blackout, plan.margin).to_dict() for a, b in pairs]
    return found


def _below(folder: Path, path: str | None) -> str | None:
    return None if path is None else Path(path).resolve().relative_to(folder.resolve()).as_posix()
