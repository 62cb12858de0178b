"""Every forgery is named, by `verify` and by `report`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sealed_study import Study

from blindsave import store
from blindsave.errors import BadFile, BlindsaveError
from blindsave.evidence import tables
from blindsave.evidence.ledger import START
from blindsave.report.build import build
from blindsave.report.results import read_results
from blindsave.verify import refuse_unverified, verify

PRINCIPAL, SEALED = "results/test/principal_test.parquet", "results/test/sealed_test.parquet"


def rewrite(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.read_table(path)), path)


def put(table: pa.Table, column: str, values: list) -> pa.Table:
    at = table.schema.get_field_index(column)
    return table.set_column(at, table.schema.field(column), pa.array(values, table.schema.field(column).type))


def all_saved(table: pa.Table) -> pa.Table:
    """What an attacker does: outcomes and saves rewritten, consistently."""
    return put(put(table, "save", [True] * table.num_rows), "outcome", ["returned"] * table.num_rows)


def lines_of(study: Study) -> list[dict]:
    return [json.loads(line) for line in study.ledger.path.read_text().splitlines()]


def write_lines(study: Study, lines: list[dict], chained: bool = False) -> None:
    """Write a ledger; `chained` computes a new, consistent chain, as a careful forger would."""
    previous = START
    for index, line in enumerate(lines if chained else ()):
        line |= {"index": index, "previous": previous}
        line["sha256"] = store.digest({key: value for key, value in line.items() if key != "sha256"})
        previous = line["sha256"]
    study.ledger.path.write_text("".join(store.canonical_json(line) + "\n" for line in lines))


def rewritten_rows(study: Study) -> None:
    for name in (PRINCIPAL, SEALED):
        rewrite(study.root / name, all_saved)


def results_line_cut(study: Study) -> None:
    write_lines(study, lines_of(study)[:-1])


def garbage_freeze(study: Study) -> None:
    study.manifest.write_text("garbage")


def ledger_deleted(study: Study) -> None:
    study.ledger.path.unlink()


def ledger_edited(study: Study) -> None:
    lines = lines_of(study)
    lines[2]["content"]["save_rates"]["sealed_test"]["gru_n64"]["20"]["saves"] += 1
    write_lines(study, lines)


def plan_edited(study: Study) -> None:
    path = study.root / "protocol.toml"
    path.write_text(path.read_text().replace("equivalence_margin_points = 2.0", "equivalence_margin_points = 5.0"))


def model_edited(study: Study) -> None:
    (study.root / "models/students/gru_n64/14303.safetensors").write_text("better")


def models_swapped(study: Study) -> None:
    one, other = (study.root / f"models/students/gru_n64/{seed}.safetensors" for seed in (14303, 14304))
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


def row_deleted(study: Study) -> None:
    rewrite(study.root / PRINCIPAL, lambda table: table.slice(1))


def row_doubled(study: Study) -> None:
    rewrite(study.root / PRINCIPAL, lambda table: pa.concat_tables([table, all_saved(table.slice(0, 1))]))


def column_type_changed(study: Study) -> None:
    def widen(table: pa.Table) -> pa.Table:
        at = table.schema.get_field_index("steps")
        return table.set_column(at, "steps", table["steps"].cast(pa.int64()))

    rewrite(study.root / SEALED, widen)


def save_without_outcome(study: Study) -> None:
    rewrite(study.root / SEALED, lambda table: put(table, "save", [True] * table.num_rows))


def reward_nudged(study: Study) -> None:
    """Nothing that is counted changes: only the hash can tell."""
    nudge = lambda table: put(table, "reward", list(np.nextafter(table["reward"].to_numpy(), 9)))  # noqa: E731
    rewrite(study.root / PRINCIPAL, nudge)


def lines_reordered(study: Study) -> None:
    lines = lines_of(study)
    write_lines(study, [lines[1], lines[0], lines[2]], chained=True)


def times_edited(study: Study) -> None:
    lines = lines_of(study)
    lines[1]["time"] = "2020-01-01T00:00:00+00:00"
    write_lines(study, lines)


def times_edited_and_chained(study: Study) -> None:
    lines = lines_of(study)
    lines[2]["time"] = "2020-01-01T00:00:00+00:00"
    write_lines(study, lines, chained=True)


def opened_twice(study: Study) -> None:
    lines = lines_of(study)
    write_lines(study, [lines[0], lines[1], dict(lines[1]), lines[2]], chained=True)


def another_study(study: Study) -> Study:
    other = Study(study.root.parent / "other")
    shutil.copytree(study.root, other.root)
    for path in (other.ledger.path, other.manifest):
        path.unlink()
    shutil.rmtree(other.out)
    (other.root / "results/efficiency/latency.json").write_text('{"other": 1}')
    other.freeze()
    return other


def foreign_freeze(study: Study) -> None:
    shutil.copy(another_study(study).manifest, study.manifest)


def second_ledger(study: Study) -> None:
    shutil.copy(study.ledger.path, study.out / "ledger.jsonl")


def second_freeze(study: Study) -> None:
    (study.root / "results/older").mkdir()
    shutil.copy(study.manifest, study.root / "results/older/freeze.json")


def shots_edited(study: Study) -> None:
    path = study.out / "sealed_test_shots.json"
    document = json.loads(path.read_text())
    document["shots"][7]["vx"] *= 0.5
    path.write_text(json.dumps(document))


def shots_deleted(study: Study) -> None:
    (study.out / "sealed_test_shots.json").unlink()


def seed_edited(study: Study) -> None:
    """A seed of one's choice in the opening, with a consistent chain."""
    lines = lines_of(study)
    lines[1]["content"]["sealed_seed"] = 1
    write_lines(study, lines, chained=True)


def validation_edited(study: Study) -> None:
    rewrite(study.root / "results/validation/validation.parquet", all_saved)


def validation_added(study: Study) -> None:
    folder = study.root / "results/validation"
    shutil.copy(folder / "validation.parquet", folder / "more.parquet")


def latency_edited(study: Study) -> None:
    (study.root / "results/efficiency/latency.json").write_text('{"families": {}}')


def dataset_edited(study: Study) -> None:
    (study.root / "results/datasets/base/manifest.json").write_text("{}")


def table_deleted(study: Study) -> None:
    (study.root / SEALED).unlink()


def noise_cut(study: Study) -> None:
    rewrite(study.root / "results/noise/noise_test.parquet", lambda table: table.slice(0, table.num_rows - 6))


FORGERIES: dict[Callable[[Study], None], tuple[str, str]] = {
    rewritten_rows: (PRINCIPAL, "changed after the release"),
    results_line_cut: (PRINCIPAL, "the ledger holds no results"),
    garbage_freeze: ("results/freeze.json", "not JSON"),
    ledger_deleted: ("results/ledger.jsonl", "missing"),
    ledger_edited: ("results/ledger.jsonl", "chain of hashes is broken"),
    plan_edited: ("protocol.toml", "changed after the freeze"),
    model_edited: ("models/students/gru_n64/14303.safetensors", "changed after the freeze"),
    models_swapped: ("models/students/gru_n64/14304.safetensors", "changed after the freeze"),
    row_deleted: (PRINCIPAL, "lacks the row"),
    row_doubled: (PRINCIPAL, "duplicated row"),
    column_type_changed: (SEALED, "column steps"),
    save_without_outcome: (SEALED, "contradicts the outcome"),
    reward_nudged: (PRINCIPAL, "changed after the release"),
    lines_reordered: ("results/ledger.jsonl", "out of order"),
    times_edited: ("results/ledger.jsonl", "chain of hashes is broken"),
    times_edited_and_chained: ("results/ledger.jsonl", "times go backwards"),
    opened_twice: ("results/ledger.jsonl", "2 lines 'opening'"),
    foreign_freeze: ("results/freeze.json", "not the freeze the ledger names"),
    second_ledger: ("results/test/ledger.jsonl", "second one"),
    second_freeze: ("results/older/freeze.json", "second one"),
    shots_edited: ("results/test/sealed_test_shots.json", "other shots"),
    shots_deleted: ("results/test/sealed_test_shots.json", "cannot be read"),
    seed_edited: ("results/ledger.jsonl", "sealed seed"),
    validation_edited: ("results/validation/validation.parquet", "changed after the freeze"),
    validation_added: ("results/validation/more.parquet", "added after the freeze"),
    latency_edited: ("results/efficiency/latency.json", "changed after the freeze"),
    dataset_edited: ("results/datasets/base/manifest.json", "changed after the freeze"),
    table_deleted: (SEALED, "cannot be read"),
    noise_cut: ("results/noise/noise_test.parquet", "lacks the row"),
}


def test_an_honest_study_verifies_and_its_report_says_so(study: Study):
    found = verify(study.root)
    assert found.failures == () and found.released
    assert found.checked["checkpoints"] == 5 and found.checked["sealed_shots"] == 225
    assert found.checked["rows"] == 5 * 225 * (5 + 2 + 2) + 3 * 225 * 6
    assert any("the code has changed since the freeze" in note for note in found.notes)
    results = read_results(study.root / "results")
    assert results.verification is not None and results.verification.ok
    assert "Verified for this page" in results.verification.sentence


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forgery_is_named_by_verify_and_by_report(study: Study, forge: Callable[[Study], None]):
    file, reason = FORGERIES[forge]
    forge(study)
    found = verify(study.root)
    assert not found.ok
    assert any(failure.file == file and reason in failure.reason for failure in found.failures), found.failures
    assert "Verified" not in found.sentence
    try:  # the report names it on its page, or refuses to be made
        results = read_results(study.root / "results")
    except BlindsaveError as error:
        assert Path(file).name in str(error) or reason in str(error)
    else:
        assert results.verification is not None
        assert any(failure.file == file for failure in results.verification.failures)


def test_a_forged_study_has_a_page_that_says_so_before_anything_else(study: Study, tmp_path: Path):
    rewritten_rows(study)
    made = build(study.root / "results", tmp_path / "report", 50)
    page = made.page.read_text(encoding="utf-8")
    assert not made.to_dict()["ok"]
    assert "Verification failed" in page and PRINCIPAL in page
    assert page.index("Verification failed") < page.index("Shots saved with the puck hidden")
    assert "Verified for this page" not in page and "Nothing was done otherwise than planned" not in page


def test_every_failure_is_listed_not_only_the_first(study: Study):
    for forge in (rewritten_rows, model_edited, plan_edited, shots_edited):
        forge(study)
    files = {failure.file for failure in verify(study.root).failures}
    assert {PRINCIPAL, SEALED, "protocol.toml", "results/test/sealed_test_shots.json"} <= files
    assert "models/students/gru_n64/14303.safetensors" in files


def test_the_ledgers_save_rates_are_compared_too(study: Study):
    """A forger who also writes the new hashes into a new chain still has the counts against him."""
    rewritten_rows(study)
    lines = lines_of(study)
    lines[2]["content"]["tables"] = {
        name: store.sha256_file(study.out / f"{name}.parquet") for name in lines[2]["content"]["tables"]
    }
    write_lines(study, lines, chained=True)
    assert {f.reason.partition(", first")[0] for f in verify(study.root).failures} == {
        "6 save rates are not the ledger's"
    }


def test_another_table_of_the_test_never_replaces_the_released_one(study: Study):
    """`evaluate --split principal_test --out results/mine/p.parquet`, then `report`."""
    mine = study.root / "results/mine/p.parquet"
    tables.write(all_saved(tables.read(study.root / PRINCIPAL)), mine)
    results = read_results(study.root / "results")
    assert results.tables["principal_test"].equals(tables.read(study.root / PRINCIPAL))
    assert results.files["principal_test episodes"] == (study.root / PRINCIPAL,)
    found = verify(study.root)
    assert found.ok
    assert any(note.startswith("results/mine/p.parquet holds rows of principal_test") for note in found.notes)


def test_the_released_table_wins_wherever_it_lies(study: Study):
    moved = study.root / "results/zebra/principal.parquet"
    moved.parent.mkdir()
    (study.root / PRINCIPAL).rename(moved)
    assert read_results(study.root / "results").files["principal_test episodes"] == (moved,)
    tables.write(all_saved(tables.read(moved)), study.root / PRINCIPAL)
    assert read_results(study.root / "results").files["principal_test episodes"] == (moved,)
    assert any(f.file == PRINCIPAL and "not the released table" in f.reason for f in verify(study.root).failures)


def test_statistics_of_a_forged_study_are_refused(study: Study, tmp_path: Path):
    refuse_unverified(study.root / PRINCIPAL)
    model_edited(study)
    with pytest.raises(BadFile, match=r"does not verify: models/students/gru_n64/14303"):
        refuse_unverified(study.root / PRINCIPAL)
    shutil.copy(study.root / PRINCIPAL, tmp_path / "elsewhere.parquet")
    refuse_unverified(tmp_path / "elsewhere.parquet")


def test_a_report_made_of_other_files_is_named(study: Study):
    build(study.root / "results", study.root / "results/report", 50)
    assert verify(study.root).ok
    noise = study.root / "results/noise/noise_test.parquet"
    rewrite(noise, all_saved)
    assert any("the report was made of" in failure.reason for failure in verify(study.root).failures)
