"""Deviations: computed from the tables and the ledger, whatever anybody says."""

import pytest
from sealed_study import Study

from blindsave.evidence import tables
from blindsave.evidence.deviations import deviations


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
