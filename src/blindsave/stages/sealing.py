"""Freeze everything, open the test once, then ask about noise."""

from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from blindsave import store
from blindsave.engine import Dispatch, Output, Task
from blindsave.errors import BadFile, BadInput
from blindsave.evidence.freeze import Frozen
from blindsave.evidence.schedule import Schedule
from blindsave.policies.catalog import NamedPolicy
from blindsave.stages.planning import write_plan
from blindsave.stages.scales import Scale
from blindsave.stages.site import Site, players

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


def release_tasks(scale: Scale) -> list[Task[Site]]:
    """Every final and the teacher on the tests, one task each."""
    amount = TEST_SHOTS * len(scale.test_blackouts)
    times = {"sealed_test": scale.sealed_times}
    return [
        Task(
            f"{policy}/{seed}, {split}",
            play_test,
            {"policy": policy, "seed": seed, "split": split},
            {"student" if seed else "teacher": amount * times.get(split, 1)},
        )
        for split in scale.test_splits
        for policy, seed in players(scale)
    ]


def release(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Open the test, once; a killed release is completed as it began."""
    from blindsave.evidence.grid import grid
    from blindsave.evidence.release import release as open_test
    from blindsave.evidence.release import released

    played: list[Output] = []

    def play(work: Path, policies: list[NamedPolicy], schedule: Schedule) -> pa.Table:
        if not played:  # everything at once, now that the opening is in the ledger
            played.extend(dispatch(release_tasks(site.scale)))
        return grid(work, policies, schedule, threads=site.threads)

    done = released(site.ledger, site.results / "test")
    if done is None:
        done = open_test(site.manifest, site.folder, site.ledger, site.results / "test", site.work, play=play)
    shots = site.results / "test" / "sealed_test_shots.json"
    return [Output((*done.tables.values(), shots), result={"save_rates": done.results.content["save_rates"]})]


def play_test(site: Site, policy: str, seed: int, split: str) -> Output:
    """Let one policy play an open test."""
    from blindsave.evidence.grid import grid
    from blindsave.evidence.release import opened_schedules

    if site.ledger.last("opening") is None:
        raise BadInput(f"the test is closed: {site.ledger.path} knows of no opening")
    schedule = opened_schedules(_frozen(site))[split]
    with site.progress("playing the test", len(schedule)) as bar:
        grid(site.work, [site.policy(policy, seed)], schedule, threads=site.threads, progress=bar.advance)
    return Output()


def noise_tasks(scale: Scale) -> list[Task[Site]]:
    """The noise extension: a few policies, noisy tracking, one task each."""
    amount = TEST_SHOTS * len(scale.noise_blackouts) * len(scale.conditions)
    return [
        Task(
            f"{policy}/{seed}",
            play_noise,
            {"policy": policy, "seed": seed},
            {"student" if seed else "teacher": amount},
        )
        for policy, seed in players(scale)
        if policy in scale.noisy and amount
    ]


def noise(site: Site, dispatch: Dispatch[Site]) -> list[Output]:
    """Play the noise grid, after the release."""
    from blindsave.evidence import tables
    from blindsave.evidence.freeze import open_frozen

    tasks = noise_tasks(site.scale)
    if not tasks:
        return []
    open_frozen(site.manifest, site.folder)
    dispatch(tasks)
    table = _with_noise(site, [one for one in site.policies() if one.family in site.scale.noisy])
    path = tables.write(table, site.results / "noise" / f"{NOISE_SPLIT}.parquet")
    played = {"tables": {NOISE_SPLIT: store.sha256_file(path)}}
    with site.ledger.lock():
        said = site.ledger.last("noise")
        if said is None:
            site.ledger.append("noise", played)
        elif said.content != played:
            raise BadFile(f"{path} came out otherwise than {site.ledger.path} says")
    return [Output((path,), result={"episodes": table.num_rows})]


def play_noise(site: Site, policy: str, seed: int) -> Output:
    """Let one policy play the noise grid."""
    _with_noise(site, [site.policy(policy, seed)])
    return Output()


def _with_noise(site: Site, policies: list[NamedPolicy]) -> pa.Table:
    from blindsave.evidence.grid import grid
    from blindsave.evidence.release import sealed_noise_shots
    from blindsave.evidence.schedule import schedule

    scale = site.scale
    members = () if scale.opens_principal_test else sealed_noise_shots(_frozen(site).sha256)
    chosen = schedule(NOISE_SPLIT, scale.noise_blackouts, scale.conditions, members)
    with site.progress("noise", len(policies) * len(chosen)) as bar:
        return grid(site.work, policies, chosen, threads=site.threads, progress=bar.advance)


def _frozen(site: Site) -> Frozen:
    """What was frozen; verified once per process and manifest, since every task asks for it."""
    return _verified(site.manifest, site.folder, store.sha256_file(site.manifest))


@lru_cache(maxsize=1)
def _verified(manifest: Path, folder: Path, sha256: str) -> Frozen:
    from blindsave.evidence.freeze import open_frozen

    return open_frozen(manifest, folder)
