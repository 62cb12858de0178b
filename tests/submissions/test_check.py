"""A forged submission is refused, and what was forged is named; careful forgers, who mend every hash, too."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from forged_rows import forge_row

from blindsave import store, tensors
from blindsave.policies.catalog import resolve
from blindsave.submissions import verify_submission
from blindsave.submissions.card import results
from blindsave.submissions.layout import CARD, CONFIG, ROWS, About, Submission, published_plan, seed_of
from blindsave.submissions.pack import pack
from blindsave.verify.places import PLAN
from blindsave.verify.replay import Replay

MODEL = "model-14303.safetensors"


def failures(folder: Path, rows: int | None = None) -> dict[str, str]:
    """The first reason given for every file."""
    found: dict[str, str] = {}
    for one in verify_submission(folder, Replay(rows)).failures:
        found.setdefault(one.file, one.reason)
    return found


def rewrite_config(folder: Path, **changes) -> None:
    document = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(document | changes))


def forge_weight(folder: Path) -> None:
    arrays, metadata = tensors.read(folder / MODEL)
    name = max(arrays, key=lambda key: arrays[key].size)
    changed = arrays[name].copy()
    changed.flat[0] = np.nextafter(changed.flat[0], np.float32(np.inf))
    tensors.write(folder / MODEL, arrays | {name: changed}, metadata)


def mend(folder: Path) -> None:
    """What a careful forger does: every hash, the sealed seed and the card fit again."""
    made = Submission.read(folder)
    models = {s: type(m)(m.file, store.sha256_file(folder / str(m.file))) for s, m in made.models.items()}
    rewrite_config(
        folder,
        models={str(seed): vars(model) for seed, model in models.items()},
        rows_sha256=store.sha256_file(folder / ROWS),
        sealed_seed=seed_of(published_plan().sha256, models),
    )
    (folder / CARD).write_text(results(Submission.read(folder), pq.read_table(folder / ROWS)))


def test_an_honest_one_verifies_bit_by_bit(packed):
    for name, rows in (("forgetful", 240), ("teacher", 120)):
        found = verify_submission(packed / name)
        assert found.ok and found.checked["rows_played_again"] == found.checked["rows"] == rows


def test_one_without_weights_verifies_too(tmp_path):
    pack([resolve("fixed_centre")], tmp_path / "centre", About("Stays central"), tmp_path / "work")
    assert verify_submission(tmp_path / "centre").ok


def test_one_forged_row_is_named(forgetful):
    forge_row(forgetful)
    assert "its rows were changed" in failures(forgetful, 1)[ROWS]


def test_one_forged_row_is_named_even_if_every_hash_and_the_card_were_mended(forgetful):
    row = forge_row(forgetful)
    mend(forgetful)
    found = failures(forgetful)
    assert found.keys() == {ROWS}
    assert f"shot_id={row['shot_id']}, blackout={row['blackout']}" in found[ROWS] and "outcome" in found[ROWS]


def test_one_forged_weight_is_named(forgetful):
    forge_weight(forgetful)
    assert "its weights were changed" in failures(forgetful, 1)[MODEL]


def test_one_forged_weight_is_named_even_if_every_hash_was_mended(forgetful):
    forge_weight(forgetful)
    mend(forgetful)
    # The last bit of one weight: its own test would have had other shots, and these rows are not of them.
    assert ROWS in failures(forgetful)


def test_one_forged_weight_with_the_old_sealed_seed_is_named(forgetful):
    seed = Submission.read(forgetful).sealed_seed
    forge_weight(forgetful)
    mend(forgetful)
    rewrite_config(forgetful, sealed_seed=seed)
    assert "sealed seed" in failures(forgetful, 1)[CONFIG]


def test_another_plan_is_named_with_what_differs(forgetful):
    text = (forgetful / PLAN).read_text().replace("equivalence_margin_points = 2.0", "equivalence_margin_points = 9.0")
    (forgetful / PLAN).write_text(text)
    assert "differs in endpoint.equivalence_margin_points" in failures(forgetful, 1)[PLAN]
    rewrite_config(forgetful, plan_sha256=store.sha256_file(forgetful / PLAN))
    assert "names another plan" in failures(forgetful, 1)[CONFIG]


def test_a_card_that_boasts_is_named(forgetful):
    text = (forgetful / CARD).read_text()
    (forgetful / CARD).write_text(text.replace("| principal test | ", "| principal test | 1"))
    assert "shows other results" in failures(forgetful, 1)[CARD]
    (forgetful / CARD).write_text(text.replace(" ms, value: ", " ms, value: 9"))
    assert "its metadata hold another save rate" in failures(forgetful, 1)[CARD]
    (forgetful / CARD).write_text(text.replace("Two seeds.", "Two seeds, described at length."))
    assert failures(forgetful, 1) == {}


def test_missing_rows_and_foreign_files_are_named(forgetful):
    table = pq.read_table(forgetful / ROWS)
    pq.write_table(table.slice(1), forgetful / ROWS)
    (forgetful / "notes.txt").write_text("x")
    found = failures(forgetful)
    assert "does not belong" in found["notes.txt"] and ROWS in found


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema": "blindsave.submission.v1"}', '{"schema": "blindsave.submission.v1", "models": 3}'],
)
def test_a_broken_configuration_is_named(forgetful, text):
    (forgetful / CONFIG).write_text(text)
    assert failures(forgetful).keys() == {CONFIG}


def test_a_model_cannot_lie_elsewhere(forgetful):
    rewrite_config(forgetful, models={"14303": {"file": "../model.safetensors", "sha256": "0" * 64}})
    assert "lie beside it" in failures(forgetful)[CONFIG]
