"""Pack a policy: play the plan's tests, and put weights, plan, rows and card into one folder."""

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from blindsave import store, tensors
from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.evidence.grid import grid
from blindsave.policies.catalog import NamedPolicy
from blindsave.submissions.card import card
from blindsave.submissions.layout import (
    CARD,
    CONFIG,
    ROWS,
    About,
    Model,
    Submission,
    expected,
    published_plan,
    schedules,
    seed_of,
)
from blindsave.verify.places import PLAN


def episodes_of(policies: Sequence[NamedPolicy]) -> int:
    """How many episodes packing plays."""
    return len(policies) * sum(map(len, schedules(published_plan(), 0).values()))


def refuse_unfit(policies: Sequence[NamedPolicy], out: Path) -> None:
    """Refuse what cannot be packed, before anything is played."""
    if not policies:
        raise BadInput("name at least one policy, for example `structured_k0/14303`")
    names = sorted({one.family for one in policies})
    if len(names) > 1:
        raise BadInput(
            f"a submission is about one policy, and these are {', '.join(names)}; its training seeds may differ"
        )
    if len({one.training_seed for one in policies}) < len(policies):
        raise BadInput(f"{names[0]} takes part twice with one training seed")
    if any(getattr(one.policy, "privileged", False) for one in policies):
        raise BadInput(f"{names[0]} is told where the puck is, and cannot be compared with policies that are not")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} already exists and is not empty")


def pack(
    policies: Sequence[NamedPolicy],
    out: Path,
    about: About,
    work: Path,
    *,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Submission:
    """Play and pack; the folder appears whole or not at all. `work` keeps what was played, should this be killed."""
    refuse_unfit(policies, out)
    plan = published_plan()
    models = {one.training_seed: Model(_file_name(one, len(policies)), one.sha256) for one in policies}
    seed = seed_of(plan.sha256, models)
    tests = schedules(plan, seed)
    parts = [grid(work, policies, test, threads=threads, progress=progress) for test in tests.values()]
    family = policies[0].family
    table = tables.concatenate(parts, expected(family, tuple(sorted(models)), tests))
    out.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=store.TEMPORARY, dir=out.parent))
    try:
        for one in policies:
            if one.file is not None:
                store.write_whole(temporary / str(models[one.training_seed].file), one.file.read_bytes())
        store.write_whole(temporary / PLAN, plan.path.read_bytes())
        rows = tables.write(table, temporary / ROWS)
        made = Submission(
            policy=family,
            models=models,
            weights=_weights(policies[0].file),
            plan_sha256=plan.sha256,
            rows_sha256=store.sha256_file(rows),
            sealed_seed=seed,
            about=about,
            made_with={key: store.provenance()[key] for key in ("blindsave", "libraries")},
        )
        store.write_json(temporary / CONFIG, made.to_dict())
        store.write_whole(temporary / CARD, card(made, table, plan))
        os.chmod(temporary, 0o755)
        if out.is_dir():
            out.rmdir()
        os.rename(temporary, out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return made


def _file_name(one: NamedPolicy, count: int) -> str | None:
    if one.file is None:
        return None
    return "model.safetensors" if count == 1 else f"model-{one.training_seed}.safetensors"


def _weights(file: Path | None) -> int:
    return 0 if file is None else sum(array.size for array in tensors.read(file)[0].values())
