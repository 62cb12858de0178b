"""What the repository ships holds together: policies, tables, freeze and ledger of the study at paper scale."""

import json
from pathlib import Path

import numpy as np
import pytest

from blindsave import store
from blindsave.evidence import tables
from blindsave.evidence.freeze import sealed_seed
from blindsave.evidence.ledger import Ledger
from blindsave.evidence.schedule import schedule
from blindsave.policies import closed_loop
from blindsave.policies.catalog import load, models_folder
from blindsave.policies.students.registry import PAPER_FAMILIES, family
from blindsave.stages.scales import PAPER, TRAINING_SEEDS
from blindsave.task.shots import Shot

REPOSITORY = Path(__file__).parents[1]
RESULTS = REPOSITORY / "results"


def test_every_final_student_is_shipped():
    for name in PAPER_FAMILIES:
        files = sorted(path.stem for path in (models_folder() / "students" / name).glob("*.safetensors"))
        assert files == [str(seed) for seed in TRAINING_SEEDS]
    student = load("structured_k0/14303")
    assert student.provenance.stage == "final" and student.provenance.seed == 14303
    assert {n: a.shape for n, a in student.parameters.items()} == family("structured_k0").shapes


def frozen_files(folder: Path) -> dict[str, str]:
    """What a freeze bound: the hash of every file by its name in the study's folder."""
    document = json.loads((folder / "freeze.json").read_text())
    body = document["body"]
    assert store.digest(body) == document["freeze_sha256"]
    bound = {name: sha for group in body["groups"].values() for name, sha in group.items()}
    return bound | {body["plan"]["path"]: body["plan"]["sha256"]}


def test_everything_the_freeze_bound_is_shipped_unchanged():
    """Code may go on; policies, datasets' manifests, validation, costs and the plan may not."""
    bound = frozen_files(RESULTS)
    assert len(bound) > 36
    assert [name for name, sha in bound.items() if store.sha256_file(REPOSITORY / name) != sha] == []


def test_the_ledger_says_that_the_test_was_opened_once_after_the_freeze():
    entries = Ledger(RESULTS / "ledger.jsonl").entries()
    kinds = [entry.kind for entry in entries]
    assert kinds.count("opening") == 1 and kinds.index("opening") > kinds.index("freeze")
    frozen = json.loads((RESULTS / "freeze.json").read_text())["freeze_sha256"]
    assert next(entry for entry in entries if entry.kind == "opening").content["freeze_sha256"] == frozen


def shots_of(split: str) -> tuple[Shot, ...]:
    if split == "principal_test":
        return ()
    document = json.loads((RESULTS / "test" / "sealed_test_shots.json").read_text())
    frozen = json.loads((RESULTS / "freeze.json").read_text())["freeze_sha256"]
    assert document["seed"] == sealed_seed(frozen)
    return tuple(Shot(**shot) for shot in document["shots"])


@pytest.mark.parametrize("split", PAPER.test_splits)
@pytest.mark.parametrize("policy", ["feed_forward/14304", "structured_k0/14303", "structured_k4/14307", "teacher"])
def test_published_rows_come_out_again(split, policy):
    """A few episodes, played again by the shipped policy, give the published row in every value."""
    name, _, seed = policy.partition("/")
    rows = tables.read(RESULTS / "test" / f"{split}.parquet").to_pylist()
    mine = [row for row in rows if row["policy"] == name and row["training_seed"] == int(seed or 0)]
    grid = schedule(split, PAPER.test_blackouts, members=shots_of(split))
    assert len(mine) == len(grid)
    chosen = np.random.default_rng(0).choice(len(mine), 12, replace=False)
    episodes = grid.episodes()
    played = closed_loop.run(load(policy), [episodes[i] for i in chosen])
    for place, i in enumerate(chosen):
        again = (played.labels[place], played.steps[place], played.first_contact[place], played.reward[place])
        assert tuple(mine[i][key] for key in ("outcome", "steps", "first_contact", "reward")) == again, mine[i]


TEACHERS = sorted(path.parent.name for path in (RESULTS / "teachers").glob("*/freeze.json"))
"""Further studies, each of a teacher of its own."""


def test_the_studies_of_other_teachers_are_found():
    assert {"seed_7304", "seed_7305"} <= set(TEACHERS)


def place_of(teacher: str, name: str) -> Path:
    """Where a file of another teacher's study lies in the repository."""
    top, _, rest = name.partition("/")
    return REPOSITORY / top / "teachers" / teacher / rest if rest else RESULTS / "teachers" / teacher / name


def left_out(teacher: str) -> set[str]:
    """What another teacher's study names as frozen and not shipped."""
    listed = RESULTS / "teachers" / teacher / "left_out.json"
    return set(json.loads(listed.read_text())["files"]) if listed.is_file() else set()


@pytest.mark.parametrize("teacher", TEACHERS)
def test_the_studies_of_other_teachers_are_shipped_as_they_were_frozen(teacher):
    folder = RESULTS / "teachers" / teacher
    bound, absent = frozen_files(folder), left_out(teacher)
    assert len(bound) > 20 and absent <= bound.keys()
    assert [name for name in absent if place_of(teacher, name).exists()] == []
    here = {name: sha for name, sha in bound.items() if name not in absent}
    assert [name for name, sha in here.items() if store.sha256_file(place_of(teacher, name)) != sha] == []
    kinds = [entry.kind for entry in Ledger(folder / "ledger.jsonl").entries()]
    assert kinds.count("opening") == 1 and kinds.index("opening") > kinds.index("freeze")


@pytest.mark.parametrize("teacher", ["seed_7304", "seed_7305"])
def test_the_summary_of_other_teachers_counts_what_their_tables_hold(teacher):
    summary = json.loads((RESULTS / "teachers" / "summary.json").read_text())
    for split, by_teacher in summary["save_rates"].items():
        rows = tables.read(RESULTS / "teachers" / teacher / "test" / f"{split}.parquet").to_pylist()
        for policy, cells in by_teacher[teacher].items():
            for blackout, cell in cells.items():
                saved = [row["save"] for row in rows if (row["policy"], row["blackout"]) == (policy, int(blackout))]
                assert (sum(saved), len(saved)) == (cell["saves"], cell["shots"])


@pytest.mark.parametrize("teacher", TEACHERS)
@pytest.mark.parametrize("policy", ["gru_n64/14303", "teacher"])
def test_published_rows_of_other_teachers_come_out_again(teacher, policy, monkeypatch):
    monkeypatch.setenv("BLINDSAVE_MODELS", str(REPOSITORY / "models" / "teachers" / teacher))
    if f"models/students/{policy}.safetensors" in left_out(teacher):
        pytest.skip(f"{policy} of {teacher} was frozen and is not shipped")
    name, _, seed = policy.partition("/")
    rows = tables.read(RESULTS / "teachers" / teacher / "test" / "principal_test.parquet").to_pylist()
    mine = [row for row in rows if row["policy"] == name and row["training_seed"] == int(seed or 0)]
    episodes = schedule("principal_test", PAPER.test_blackouts).episodes()
    chosen = np.random.default_rng(0).choice(len(mine), 8, replace=False)
    played = closed_loop.run(load(policy), [episodes[i] for i in chosen])
    for place, i in enumerate(chosen):
        again = (played.labels[place], played.steps[place], played.first_contact[place], played.reward[place])
        assert tuple(mine[i][key] for key in ("outcome", "steps", "first_contact", "reward")) == again, mine[i]
