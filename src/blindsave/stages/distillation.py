"""From teacher to students: base episodes, collectors, shadow episodes, finals."""

from typing import Any

from blindsave import store
from blindsave.engine import Dispatch, Output, Task
from blindsave.learning.distil.collection import SHARD_EPISODES
from blindsave.learning.distil.pipeline import METRICS
from blindsave.stages.importing import open_pipeline
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site, once


def base_tasks(scale: Scale) -> list[Task[Site]]:
    """The teacher plays, shard by shard."""
    return [
        Task(f"base {number}", play_base, {"shard": number}, {"teacher": episodes})
        for number, episodes in enumerate(_shards(scale.base_episodes))
    ]


def base(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Collect the teacher's episodes."""
    dispatch(base_tasks(site.scale))
    return [_datasets(site, {"base": pipeline(site).base()})]


def play_base(site: Site, shard: int) -> Output:
    """Play one shard of the base."""
    pipeline(site).prepare("base episodes", pipeline(site).base_collection(), shard)
    return Output()


def collector_tasks(scale: Scale) -> list[Task[Site]]:
    """One first-stage student per family and seed; the seeds of a family train together."""
    passes = scale.base_episodes * scale.epochs * len(scale.training_seeds)
    return [Task(name, train_collectors, {"family": name}, {f"train {name}": passes}) for name in scale.families]


def collectors(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Train the collectors; their learning curves go to the results."""
    return _with_curves(site, "collectors", dispatch(collector_tasks(site.scale)))


def train_collectors(site: Site, family: str) -> Output:
    """Train the collectors of a family."""
    return _students(pipeline(site).collectors(family))


def shadow_tasks(scale: Scale) -> list[Task[Site]]:
    """The collectors play, the teacher labels, shard by shard."""
    share = scale.shadow_episodes // len(scale.training_seeds)
    return [
        Task(
            f"{family}/{seed} {number}",
            play_shadow,
            {"family": family, "seed": seed, "shard": number},
            {"shadow": episodes},
        )
        for family in scale.families
        for seed in scale.training_seeds
        for number, episodes in enumerate(_shards(share))
    ]


def shadow(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Collect and label the shadow episodes of every family."""
    dispatch(shadow_tasks(site.scale))
    found = {family: pipeline(site).shadow(family) for family in site.scale.families}
    seeds = site.scale.training_seeds
    return [
        _datasets(site, {f"{family}-{seed}": one for seed, one in zip(seeds, datasets, strict=True)})
        for family, datasets in found.items()
    ]


def play_shadow(site: Site, family: str, seed: int, shard: int) -> Output:
    """Play and label one shard of a collector's episodes."""
    collection = pipeline(site).shadow_collection(family, seed)
    pipeline(site).prepare(f"{family}: shadow episodes of {seed}", collection, shard)
    return Output()


def final_tasks(scale: Scale) -> list[Task[Site]]:
    """New students from scratch on base and shadow episodes."""
    passes = (scale.base_episodes + scale.shadow_episodes) * scale.epochs * len(scale.training_seeds)
    return [Task(name, train_finals, {"family": name}, {f"train {name}": passes}) for name in scale.families]


def finals(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Train the finals; their learning curves go to the results."""
    return _with_curves(site, "finals", dispatch(final_tasks(site.scale)))


def train_finals(site: Site, family: str) -> Output:
    """Train the finals of a family and put them among the study's models."""
    artifact = pipeline(site).finals(family)
    files = []
    for seed in site.scale.training_seeds:
        content = artifact.path(f"{seed}.safetensors").read_bytes()
        files.append(site.publish(site.student_file(family, seed), content))
    made = _students(artifact)
    return Output(tuple(files), made.artifacts, made.result)


def pipeline(site: Site) -> Any:
    """The distillation of this study's teacher at its scale, opened once per process."""
    return once(site, open_pipeline)


def _shards(episodes: int) -> list[int]:
    """Episodes of every shard."""
    return [min(SHARD_EPISODES, episodes - start) for start in range(0, episodes, SHARD_EPISODES)]


def _datasets(site: Site, datasets: dict[str, Any]) -> Output:
    """Write what decides each dataset, without date and machine, where the freeze binds it."""
    files, artifacts, counts = [], [], {"episodes": 0, "transitions": 0}
    for name, dataset in datasets.items():
        manifest = dataset.artifact.manifest
        bound = {key: manifest[key] for key in ("kind", "configuration", "inputs", "files", "result")}
        place = site.results / "datasets" / name / "manifest.json"
        files.append(site.publish(place, store.json_text(bound).encode("utf-8")))
        artifacts.append(dataset.artifact.folder)
        counts = {key: count + manifest["result"][key] for key, count in counts.items()}
    return Output(tuple(files), tuple(artifacts), counts)


def _students(artifact: store.Artifact) -> Output:
    """The students of a training."""
    result = artifact.manifest["result"]
    errors = [student["validation_mse"] for student in result["students"]]
    files = tuple(artifact.path(f"{student['seed']}.safetensors") for student in result["students"])
    return Output(files, (artifact.folder,), {"validation_mse": errors, "training_s": result["training_s"]})


def _with_curves(site: Site, stage: str, outputs: list[Output]) -> list[Output]:
    """Keep the learning curves of a stage's trainings, one per family; nothing rests on them, so nothing binds them."""
    from blindsave.diagnostics import curve_table

    folders = zip(site.scale.families, (folder for output in outputs for folder in output.artifacts), strict=True)
    curve_table.add(site.results / curve_table.PLACE, stage, {family: at / METRICS for family, at in folders})
    return outputs
