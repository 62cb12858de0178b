"""Trainings made on another machine, and the distillation that goes on from them."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning.distil.collection import Collection
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.dataset import Dataset, Episodes
from blindsave.learning.distil.packing import KEPT, unpack
from blindsave.learning.distil.pipeline import Budget, Pipeline
from blindsave.learning.dreamer.runtime import use_cache
from blindsave.policies.catalog import load_file
from blindsave.progress import Progress
from blindsave.stages.site import Site

REPLAYED = "replayed"
"""Below the work folder: episodes that stayed on another machine, played again."""


class OtherEpisodesError(BlindsaveError):
    """Episodes played again are not those that were imported."""


@dataclass
class ImportingPipeline(Pipeline):
    """Takes datasets that came from another machine without their episodes at their manifest's word.

    Where a training that was not brought along needs the episodes, they are played again and must be the same.
    """

    elsewhere: dict[Path, Collection] = field(default_factory=dict)
    """How the episodes came about that are not here, by their dataset's folder."""

    def found(self, collection: Collection) -> Dataset | None:
        """A dataset of which only the manifest is here."""
        artifact = imported(self.work, collection.configuration, collection.inputs)
        if artifact is None:
            return None
        self.elsewhere[artifact.folder] = collection
        return Dataset(artifact)

    def episodes(self, dataset: Dataset) -> Episodes:
        """What is trained on, played again where it stayed elsewhere."""
        collection = self.elsewhere.get(dataset.artifact.folder)
        if collection is None:
            return super().episodes(dataset)
        title = f"{collection.policy.name}: episodes that stayed elsewhere, played again"
        with Progress(title, collection.schedule.episodes, quiet=self.quiet) as progress:
            played = replace(collection, root=self.work / REPLAYED).dataset(progress.advance)
        if played.sha256 != dataset.sha256:
            raise OtherEpisodesError(
                f"the episodes of {dataset.artifact.folder}, played again on this machine, are not those that were "
                "imported; bring the whole work folder (`--import FOLDER`), or remove that dataset and its students"
            )
        return played.episodes


def open_pipeline(site: Site) -> ImportingPipeline:
    """The distillation of a study's teacher at its scale, which knows what was imported."""
    # Compiled programs are kept by machine: another processor may not be able to run them.
    use_cache(site.work / "cache" / store.digest(store.machine())[:12])
    scale = site.scale
    recipe = Recipe(epochs=scale.epochs, patience=scale.patience, batch=scale.batch, learning_rate=scale.learning_rate)
    budget = Budget(
        scale.base_episodes,
        scale.shadow_episodes,
        scale.training_seeds,
        recipe,
        conditions=scale.training_conditions,
        undisturbed_labels=scale.undisturbed_labels,
    )
    policy: Any = load_file(site.teacher_file)
    sha256 = store.sha256_file(site.teacher_file)
    return ImportingPipeline(site.work, policy, sha256, budget, threads=site.threads, quiet=site.quiet)


def imported(work: Path, wanted: dict[str, Any], inputs: dict[str, str]) -> store.Artifact | None:
    """The dataset of this schedule and these labels whose manifest is here but whose episodes stayed elsewhere."""
    for manifest in sorted(work.glob("dataset/[!.]*/manifest.json")):
        if any(manifest.parent.glob("*.safetensors")):
            continue
        found = store.open_artifact(manifest.parent, verify=False)
        same = all(found.manifest["configuration"].get(part) == wanted[part] for part in ("schedule", "labels"))
        if same and found.manifest["inputs"] == inputs:
            return found
    return None


def of_teacher(source: Path, teacher: str) -> Path:
    """The part of `source` that is one teacher's, where there is such a part."""
    parts = [source / f"{teacher}.tar", source / teacher] if teacher else []
    return next((part for part in parts if part.exists()), source)


def import_trainings(site: Site, source: Path) -> int:
    """Take trainings made elsewhere, from an archive of `distil pack` or a folder of artifacts; count the files."""
    if source.is_file():
        return len(unpack(source, site.work))
    root = source / "work" if (source / "work").is_dir() else source
    chosen = sorted({path for pattern in (*KEPT, "dataset/*/*") for path in root.glob(pattern) if path.is_file()})
    if not chosen:
        raise BadInput(f"{source} holds no students and no datasets")
    for path in chosen:
        place = site.work / path.relative_to(root)
        if not place.exists():
            store.write_whole(place, path.read_bytes())
    for manifest in sorted(site.work.glob("students/*/manifest.json")):
        store.open_artifact(manifest.parent)
    return len(chosen)
