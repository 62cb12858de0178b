"""A distillation whose episodes partly stayed on another machine: only their manifests were brought along."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BlindsaveError
from blindsave.learning.distil.collection import Collection
from blindsave.learning.distil.dataset import Dataset, Episodes
from blindsave.learning.distil.pipeline import Pipeline
from blindsave.progress import Progress

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
