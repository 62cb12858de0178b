"""Freeze everything, open the test once, then ask about noise."""

import hashlib
from functools import partial

from blindsave.engine import Output, Task
from blindsave.stages.planning import write_plan
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site
from blindsave.task.shots import Shot

TEST_SHOTS = 225
NOISE_SPLIT = "noise_test"


def freeze(scale: Scale) -> list[Task[Site]]:
    """Bind plan, policies, datasets, validation, efficiency and code."""
    return [Task("freeze", make_freeze)]


def make_freeze(site: Site) -> Output:
    """Write the manifest; once the test is open, only verify it."""
    from blindsave.evidence.freeze import freeze as bind
    from blindsave.evidence.freeze import open_frozen
    from blindsave.evidence.plan import load_plan

    if site.ledger.last("opening") is None:
        write_plan(site)
        frozen = bind(load_plan(site.plan), site.folder, site.manifest, site.ledger)
    else:
        frozen = open_frozen(site.manifest, site.folder)
    return Output((site.plan,), result={"freeze_sha256": frozen.sha256, "sealed_seed": frozen.sealed_seed})


def release(scale: Scale) -> list[Task[Site]]:
    """Every final and the teacher on the tests."""
    each = TEST_SHOTS * len(scale.test_blackouts) * len(scale.test_splits)
    students = len(scale.families) * len(scale.training_seeds) * each
    return [Task("release", make_release, {"student": students, "teacher": each})]


def make_release(site: Site) -> Output:
    """Open the test, once; a killed release is completed as it began."""
    from blindsave.evidence.grid import grid
    from blindsave.evidence.release import release as open_test
    from blindsave.evidence.release import released

    done = released(site.ledger, site.results / "test")
    if done is None:
        total = int(sum(release(site.scale)[0].cost.values()))
        with site.progress("playing the test", total) as bar:
            play = partial(grid, threads=site.threads, progress=bar.advance)
            done = open_test(site.manifest, site.folder, site.ledger, site.results / "test", site.work, play=play)
    shots = site.results / "test" / "sealed_test_shots.json"
    return Output((*done.tables.values(), shots), result={"save_rates": done.results.content["save_rates"]})


def noise(scale: Scale) -> list[Task[Site]]:
    """The noise extension: a few policies, noisy tracking."""
    if not scale.noisy or not scale.noise_mm:
        return []
    each = TEST_SHOTS * len(scale.noise_blackouts) * len(scale.noise_mm)
    students = sum(name != "teacher" for name in scale.noisy) * len(scale.training_seeds)
    return [Task("noise", make_noise, {"student": students * each, "teacher": each * ("teacher" in scale.noisy)})]


def make_noise(site: Site) -> Output:
    """Play the noise grid, after the release."""
    from blindsave.evidence import tables
    from blindsave.evidence.grid import grid
    from blindsave.evidence.schedule import schedule

    scale = site.scale
    members = () if scale.opens_principal_test else sealed_noise_shots(site)
    chosen = schedule(NOISE_SPLIT, scale.noise_blackouts, scale.noise_mm, members)
    players = [one for one in site.contestants() if one.policy in scale.noisy]
    with site.progress("noise", len(players) * len(chosen)) as bar:
        table = grid(site.work, players, chosen, threads=site.threads, progress=bar.advance)
    path = tables.write(table, site.results / "noise" / f"{NOISE_SPLIT}.parquet")
    return Output((path,), result={"episodes": table.num_rows})


def sealed_noise_shots(site: Site) -> tuple[Shot, ...]:
    """Noise shots of a smaller study: its own, from its own freeze, so that the published ones stay unseen."""
    from blindsave.evidence.freeze import open_frozen
    from blindsave.task.shots import generate, split_named

    frozen = open_frozen(site.manifest, site.folder)
    text = f"blindsave.sealed_noise.v1:{frozen.sha256}"
    seed = int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:8], "big")
    split = split_named(NOISE_SPLIT)
    return generate(NOISE_SPLIT, f"{split.distribution}_sealed", seed, split.counts)
