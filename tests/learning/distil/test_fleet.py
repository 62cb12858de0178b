"""Teachers distilled side by side: the artifacts of each are those it would have alone, and nothing is done twice."""

import shutil
import time
from dataclasses import replace

import numpy as np
import pytest

from blindsave.learning.distil import fleet
from blindsave.learning.distil.config import Recipe
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.fleet import distil_fleet
from blindsave.learning.distil.packing import pack, unpack
from blindsave.learning.distil.pipeline import Budget, open_student
from blindsave.learning.distil.workshop import Workshop, pipeline_of
from blindsave.policies.dreamer import AgentShape, save_teacher

SEEDS = (14303, 14304)


class KilledError(Exception):
    pass


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    root = tmp_path_factory.mktemp("fleet")
    shape = AgentShape()
    for seed in (1, 2):
        rng = np.random.default_rng(seed)
        params = {name: rng.normal(0, 0.1, size).astype(np.float32) for name, size in shape.shapes.items()}
        save_teacher(root / f"{seed}.safetensors", params, shape=shape, seed=seed, step=0, notes={})
    budget = Budget(base_episodes=20, shadow_episodes=20, seeds=SEEDS, recipe=Recipe(epochs=2))
    many = Budget(base_episodes=20, shadow_episodes=20, seeds=(*SEEDS, 14305, 14306), recipe=Recipe(epochs=2))
    return [
        Workshop(root / "one", root / "1.safetensors", budget),
        Workshop(root / "two", root / "2.safetensors", budget),
        Workshop(root / "many", root / "1.safetensors", many),
    ]


@pytest.fixture(scope="module")
def found(shops):
    return distil_fleet(shops, ["feed_forward"], 2)


def test_every_workshop_has_its_own_finals(shops, found):
    for shop in shops:
        pipeline = pipeline_of(shop)
        assert found[str(shop.work)]["feed_forward"]["finals"]["episodes"] == 40
        for seed in shop.budget.seeds:
            student, _ = open_student(pipeline.finals("feed_forward"), seed)
            assert student.provenance.stage == "final" and student.provenance.seed == seed


def test_episodes_are_those_of_a_distillation_alone(shops, found, tmp_path):
    shop = shops[1]
    alone = pipeline_of(Workshop(tmp_path, shop.teacher, shop.budget))
    assert alone.base().sha256 == pipeline_of(shop).base().sha256


def test_what_is_there_is_not_trained_again(shops, found, monkeypatch):
    monkeypatch.setattr(fleet, "fit_together", lambda *given, **options: pytest.fail("trained again"))
    assert distil_fleet(shops, ["feed_forward"], 2) == found


def test_datasets_that_do_not_fit_together_are_trained_in_turns(shops, found, monkeypatch):
    pipelines = [pipeline_of(shop) for shop in shops]
    sets = [(one, fleet.TrainingSet(one.base().episodes, one.budget.seeds)) for one in pipelines]
    assert [len(group) for group in fleet._groups("feed_forward", sets)] == [3]
    monkeypatch.setattr(fleet, "TABLE_BYTES", 1)
    assert [len(group) for group in fleet._groups("feed_forward", sets)] == [1, 1, 1]


def test_a_killed_fleet_goes_on_to_the_same_students(shops, found, tmp_path, monkeypatch):
    """Killed after the first of two epochs of the collectors, then of the finals."""

    def often(shop):
        return replace(pipeline_of(shop), checkpoint_every=1)

    monkeypatch.setattr(fleet, "pipeline_of", often)
    again, begun, fit_together = (
        [replace(shop, work=tmp_path / shop.work.name) for shop in shops],
        [],
        fleet.fit_together,
    )

    def killed(family, sets, *, stage, report, **options):
        def tell(epoch, history, stopped):
            begun.append((stage, epoch))
            if epoch == 1:
                raise KilledError

        return fit_together(family, sets, stage=stage, report=tell, **options)

    monkeypatch.setattr(fleet, "fit_together", killed)
    for stage in ("collector", "final"):
        with pytest.raises(KilledError):
            distil_fleet(again, ["feed_forward"], 1)
        assert begun[-1] == (stage, 1)
        assert all(len(list(shop.work.glob("checkpoints/*.safetensors"))) == 1 for shop in again)
    distil_fleet(again, ["feed_forward"], 1)
    assert begun == [("collector", 1), ("collector", 2), ("final", 1), ("final", 2)]
    for shop, other in zip(shops, again, strict=True):
        expected, mine = (students(one.work) for one in (shop, other))
        assert expected == mine and len(mine) == 2 * len(shop.budget.seeds)
        assert not list(other.work.glob("checkpoints/*"))


def test_archives_put_back_elsewhere_go_on_to_the_same_students(shops, found, tmp_path):
    """Without their episodes, which are played again where a training needs them."""
    again = [replace(shop, work=tmp_path / shop.work.name) for shop in shops]
    for shop, other in zip(shops, again, strict=True):
        unpack(*pack(shop.work, tmp_path / "one.tar"), other.work)
        shutil.rmtree(other.work / found[str(shop.work)]["feed_forward"]["finals_folder"])
        assert len(students(other.work)) == len(shop.budget.seeds)
    distil_fleet(again, ["feed_forward"], 1)
    assert [students(other.work) for other in again] == [students(shop.work) for shop in shops]


def students(work):
    return {path.relative_to(work): path.read_bytes() for path in work.glob("students/*/*.safetensors")}


def test_time_that_is_up_while_episodes_are_played_is_not_an_error(shops, tmp_path):
    late = [replace(shop, work=tmp_path / shop.work.name, deadline=time.monotonic()) for shop in shops[:1]]
    with pytest.raises(OutOfTime, match="run the same command again"):
        distil_fleet(late, ["feed_forward"], 1)
