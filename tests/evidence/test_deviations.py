"""Deviations: computed from the tables and the ledger, whatever anybody says."""

import pyarrow.compute as pc
import pytest
from sealed_study import Study, load, play_by_rule

from blindsave.evidence import tables
from blindsave.evidence.deviations import Deviation, deviations


@pytest.fixture
def study(tmp_path) -> Study:
    return Study(tmp_path / "study").prepare()


def test_deviations_are_computed_not_remembered(study):
    study.freeze()
    done = study.release()
    by_split = {split: tables.read(path) for split, path in done.tables.items()}
    found = {d.what: (d.planned, d.done) for d in deviations(study.plan, by_split, study.ledger, replicates=500)}
    assert found.pop("bootstrap replicates") == (10_000, 500)
    assert found.pop("grid validation") == ("evaluated", "no table")
    assert found.pop("grid noise_test") == ("evaluated", "no table")
    assert found == {}
    fewer = by_split["principal_test"]
    fewer = fewer.filter(fewer["training_seed"].to_numpy() != 14304)
    by_split["principal_test"] = fewer
    whats = [d.what for d in deviations(study.plan, by_split, study.ledger)]
    assert "principal_test: training seeds of gru_n64" in whats


def played(study, split: str):
    runs = [run for run in study.plan.runs if run[0] in study.plan.policies(split)]
    players = [load(study.root / study.plan.checkpoint(*run), *run) for run in runs]
    return play_by_rule(study.work, players, study.plan.grids[split].schedule())


def whats(study, by_split, **options) -> dict[str, tuple]:
    found = deviations(study.plan, by_split, **options)
    return {d.what: (d.planned, d.done) for d in found if not d.what.startswith("grid ")}


def test_a_table_as_planned_deviates_in_nothing(study):
    assert whats(study, {"noise_test": played(study, "noise_test")}) == {}


def test_a_table_nobody_planned_is_named(study):
    extra = played(study, "noise_test")
    found = whats(study, {"noise_test": extra, "holiday": extra})
    assert found == {"unplanned table holiday": (None, "holiday")}


def test_missing_conditions_and_strange_policies_are_named(study):
    table = played(study, "noise_test")
    clean = table.filter(pc.equal(table["disturbance"], "clean"))
    found = whats(study, {"noise_test": clean})
    assert found["noise_test: disturbances"][1] == ["clean"]
    renamed = table.set_column(
        table.schema.get_field_index("policy"), "policy", pc.replace_substring(table["policy"], "teacher", "stranger")
    )
    found = whats(study, {"noise_test": renamed.sort_by("policy")})
    assert found["noise_test: training seeds of stranger"] == ([], [0])
    assert found["noise_test: training seeds of teacher"] == ([0], [])


def test_a_ledger_without_an_opening_is_a_deviation(study):
    assert whats(study, {}, ledger=study.ledger) == {
        "openings of the test": (1, 0),
        "freezes before the opening": (1, 0),
    }
    study.freeze()
    (study.root / "protocol.toml").write_text((study.root / "protocol.toml").read_text() + "\n# another hand\n")
    found = whats(study, {}, ledger=study.ledger)
    assert set(found) == {"openings of the test", "plan bound by the freeze"}


def test_a_deviation_is_plain_values():
    assert Deviation("x", 1, [2]).to_dict() == {"what": "x", "planned": 1, "done": [2]}
