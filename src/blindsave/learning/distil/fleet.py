"""Distil several teachers, or one several times, side by side: their students train in one program on one device.

While the device trains one family, local workers play the shadow episodes of the families before it. Every teacher has
a work folder of its own, with the artifacts it would have if it were distilled alone; only the last bits of trainings
differ, as they do between any two programs of JAX.
"""

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from blindsave.engine import Output, Task, Workers
from blindsave.learning.distil.collection import Collection
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.fleet_fit import fit_together
from blindsave.learning.distil.pipeline import COLLECTOR, FINAL, Pipeline, reporting
from blindsave.learning.distil.training_set import TrainingSet
from blindsave.learning.distil.workshop import Workshop, open_pipeline, pipeline_of
from blindsave.policies.students.registry import family as family_of
from blindsave.progress import Progress

Wanted = tuple[Pipeline, TrainingSet]
TABLE_BYTES = 12e9
"""Most of a device's memory that one program's episodes may take; more datasets than fit are trained in turns."""


def distil_fleet(shops: Sequence[Workshop], families: Sequence[str], workers: int) -> dict[str, Any]:
    """Run both stages of the families for all workshops; returns what each made, by its work folder."""
    for name in families:
        family_of(name)
    pipelines = [pipeline_of(shop) for shop in shops]

    def play(family: str | None) -> list[Wanted]:
        for shop, pipeline in zip(shops, pipelines, strict=True):
            engine.run(shop, list(_shards(shop, pipeline, family)), lambda event: None)
        return [] if family is None else _wanted(pipelines, family, FINAL)

    def summarise(family: str) -> list[dict[str, Any]]:
        return [one.run(family) for one in pipelines]

    # Playing waits for processes and training for the device: one thread each is enough.
    with Workers(workers) as engine, ThreadPoolExecutor(1) as player:
        try:
            player.submit(play, None).result()
            played, told = {}, {}
            for family in families:
                _train(family, COLLECTOR, _wanted(pipelines, family, COLLECTOR))
                played[family] = player.submit(play, family)
            for family in families:
                _train(family, FINAL, played.pop(family).result())
                told[family] = player.submit(summarise, family)
            found = {family: told[family].result() for family in families}
        finally:
            player.shutdown(wait=False, cancel_futures=True)
    return {str(one.work): {name: found[name][i] for name in families} for i, one in enumerate(pipelines)}


def play_shard(shop: Workshop, family: str | None, seed: int, shard: int) -> Output:
    """Play one shard of the base (no family) or of a collector's episodes, unless time is up."""
    pipeline = open_pipeline(shop)
    title = "base episodes" if family is None else f"{family}: shadow episodes of {seed}"
    with contextlib.suppress(OutOfTime):  # whoever needs the episodes says so
        pipeline.prepare(title, _collection(pipeline, family, seed), shard)
    return Output()


def _wanted(pipelines: Sequence[Pipeline], family: str, stage: str) -> list[Wanted]:
    """Which pipelines lack the students of a stage, and what they are trained on."""
    found = [(one, one.training_set(family, stage)) for one in pipelines]
    return [(one, wanted) for one, wanted in found if wanted is not None]


def _train(family: str, stage: str, wanted: Sequence[Wanted]) -> None:
    """Make the students of one stage, as many at a time as fit in one program."""
    for group in _groups(family, wanted):
        first = group[0][0]
        title = f"{family}: {stage}s of {len(group)} teachers"
        with Progress(title, first.budget.recipe.epochs, quiet=first.quiet) as progress:
            fitted = fit_together(
                family_of(family),
                [training_set for _, training_set in group],
                recipe=first.budget.recipe,
                stage=stage,
                checkpoint_every=first.checkpoint_every,
                deadline=first.deadline,
                report=reporting(progress),
            )
        for (pipeline, _), own in zip(group, fitted, strict=True):
            pipeline.fitted[family, stage] = own
            pipeline.collectors(family) if stage == COLLECTOR else pipeline.finals(family)
            del pipeline.fitted[family, stage]


def _collection(pipeline: Pipeline, family: str | None, seed: int) -> Collection:
    return pipeline.base_collection() if family is None else pipeline.shadow_collection(family, seed)


def _shards(shop: Workshop, pipeline: Pipeline, family: str | None) -> Iterator[Task[Any]]:
    """What has to be played, shard by shard."""
    for seed in shop.budget.seeds if family is not None else (0,):
        collection = _collection(pipeline, family, seed)
        if not collection.folder.exists():
            for number in range(len(collection.shards)):
                arguments = {"family": family, "seed": seed, "shard": number}
                yield Task(f"{shop.work.name} {family or 'base'} {seed} {number}", play_shard, arguments)


def _groups(family: str, wanted: Sequence[Wanted]) -> Iterator[list[Wanted]]:
    """Sets of one recipe and size whose tables fit on the device together."""
    width = family_of(family).core.observed + 4
    group: list[Wanted] = []
    for one in wanted:
        rows = sum(len(found.data.obs) for _, found in (*group, one))
        first = group[0] if group else one
        alike = first[0].budget.recipe == one[0].budget.recipe and len(first[1].data) == len(one[1].data)
        if group and not (alike and 4 * width * rows <= TABLE_BYTES):
            yield group
            group = []
        group.append(one)
    if group:
        yield group
