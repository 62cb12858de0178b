"""Take trainings made on another machine into a study."""

from pathlib import Path
from typing import Any

from blindsave import store
from blindsave.errors import BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.elsewhere import ImportingPipeline
from blindsave.learning.distil.packing import KEPT, unpack
from blindsave.learning.distil.pipeline import Budget
from blindsave.learning.dreamer.runtime import use_cache
from blindsave.policies.catalog import load_file
from blindsave.stages.site import Site


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
