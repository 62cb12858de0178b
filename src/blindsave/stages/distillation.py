"""From teacher to students: base episodes, collectors, shadow episodes, finals."""

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.engine import Output, Task
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site, once


def base(scale: Scale) -> list[Task[Site]]:
    """The teacher plays."""
    return [Task("base", make_base, {"teacher": scale.base_episodes})]


def collectors(scale: Scale) -> list[Task[Site]]:
    """One first-stage student per family and seed; the seeds of a family train together."""
    passes = scale.base_episodes * scale.epochs * len(scale.training_seeds)
    return [Task(name, partial(make_collectors, name), {f"train {name}": passes}) for name in scale.families]


def shadow(scale: Scale) -> list[Task[Site]]:
    """The collectors play, the teacher labels."""
    return [Task(name, partial(make_shadow, name), {"shadow": scale.shadow_episodes}) for name in scale.families]


def finals(scale: Scale) -> list[Task[Site]]:
    """New students from scratch on base and shadow episodes."""
    passes = (scale.base_episodes + scale.shadow_episodes) * scale.epochs * len(scale.training_seeds)
    return [Task(name, partial(make_finals, name), {f"train {name}": passes}) for name in scale.families]


def make_base(site: Site) -> Output:
    """Collect the teacher's episodes."""
    return _datasets(site, {"base": pipeline(site).base()})


def make_collectors(family: str, site: Site) -> Output:
    """Train the collectors of a family."""
    return _students(site, pipeline(site).collectors(family), "collectors")


def make_shadow(family: str, site: Site) -> Output:
    """Collect and label the shadow episodes of a family."""
    found = pipeline(site).shadow(family)
    return _datasets(site, {f"{family}-{s}": d for s, d in zip(site.scale.training_seeds, found, strict=True)})


def make_finals(family: str, site: Site) -> Output:
    """Train the finals of a family and put them among the study's models."""
    artifact = pipeline(site).finals(family)
    for seed in site.scale.training_seeds:
        content = artifact.path(f"{seed}.safetensors").read_bytes()
        store.write_whole(site.student_file(family, seed), content)
    made = _students(site, artifact, "finals")
    return Output(
        tuple(site.student_file(family, seed) for seed in site.scale.training_seeds), made.artifacts, made.result
    )


def pipeline(site: Site) -> Any:
    """The distillation of this study's teacher at its scale, opened once per process."""
    return once(site, _open_pipeline)


def _open_pipeline(site: Site) -> Any:
    from blindsave.learning.distil.config import Recipe
    from blindsave.learning.distil.dataset import Dataset
    from blindsave.learning.distil.pipeline import Pipeline
    from blindsave.learning.distil.pipeline import Scale as Budget
    from blindsave.learning.dreamer.runtime import use_cache
    from blindsave.policies.catalog import load_file

    @dataclass
    class ImportingPipeline(Pipeline):
        """Takes datasets that came from another machine without their episodes at their manifest's word."""

        def _collect(self, title: str, policy: Any, schedule: Any, inputs: Any, teacher: Any) -> Dataset:
            wanted = {"teacher": self.teacher_sha256, **inputs}
            found = imported(self.work, asdict(schedule), wanted)
            return super()._collect(title, policy, schedule, inputs, teacher) if found is None else Dataset(found)

    use_cache(site.work / "cache")
    scale = site.scale
    recipe = Recipe(epochs=scale.epochs, patience=scale.patience, batch=scale.batch, learning_rate=scale.learning_rate)
    budget = Budget(scale.base_episodes, scale.shadow_episodes, scale.training_seeds, recipe)
    policy: Any = load_file(site.teacher_file)
    sha256 = store.sha256_file(site.teacher_file)
    return ImportingPipeline(site.work, policy, sha256, budget, threads=site.threads, quiet=site.quiet)


def imported(work: Path, schedule: dict[str, Any], inputs: dict[str, str]) -> store.Artifact | None:
    """The dataset of a schedule whose manifest is here but whose episodes stayed elsewhere."""
    for manifest in sorted(work.glob("dataset/*/manifest.json")):
        if any(manifest.parent.glob("*.safetensors")):
            continue
        found = store.open_artifact(manifest.parent, verify=False)
        if found.manifest["configuration"]["schedule"] == schedule and found.manifest["inputs"] == inputs:
            return found
    return None


def bring(site: Site, source: Path) -> int:
    """Take trainings made elsewhere, from an archive of `distil ... pack` or a folder of artifacts; count the files."""
    from blindsave.errors import BadInput
    from blindsave.learning.distil.packing import KEPT, unpack

    if source.is_file():
        return len(unpack(source, site.work))
    root = source / "work" if (source / "work").is_dir() else source
    chosen = [path for pattern in (*KEPT, "dataset/*/*") for path in sorted(root.glob(pattern)) if path.is_file()]
    if not chosen:
        raise BadInput(f"{source} holds no students and no datasets")
    for path in chosen:
        place = site.work / path.relative_to(root)
        if not place.exists():
            store.write_whole(place, path.read_bytes())
    for manifest in sorted(site.work.glob("students/*/manifest.json")):
        store.open_artifact(manifest.parent)
    return len(chosen)


def _datasets(site: Site, datasets: dict[str, Any]) -> Output:
    """Write what decides each dataset, without date and machine, where the freeze binds it."""
    files, artifacts, counts = [], [], {"episodes": 0, "transitions": 0}
    for name, dataset in datasets.items():
        manifest = dataset.artifact.manifest
        bound = {key: manifest[key] for key in ("kind", "configuration", "inputs", "files", "result")}
        files.append(site.write_json(f"datasets/{name}/manifest.json", bound))
        artifacts.append(dataset.artifact.folder)
        counts = {key: count + manifest["result"][key] for key, count in counts.items()}
    return Output(tuple(files), tuple(artifacts), counts)


def _students(site: Site, artifact: store.Artifact, stage: str) -> Output:
    """The students of a training; learning curves go to the results."""
    result = artifact.manifest["result"]
    family = artifact.manifest["configuration"]["family"]
    store.write_whole(
        site.results / "training" / stage / f"{family}.jsonl", artifact.path("metrics.jsonl").read_bytes()
    )
    errors = [student["validation_mse"] for student in result["students"]]
    files = tuple(artifact.path(f"{student['seed']}.safetensors") for student in result["students"])
    return Output(files, (artifact.folder,), {"validation_mse": errors, "training_s": result["training_s"]})
