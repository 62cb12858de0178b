"""The main study: the paper's, on the first faithful teacher; verified, and counted from its rows."""

from collections import Counter
from pathlib import Path

import pytest

from blindsave.evidence import tables
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.analysis import analyse
from blindsave.report.claims import findings
from blindsave.report.results import read_results
from blindsave.report.summary import sentences
from blindsave.stages.scales import PAPER
from blindsave.store import sha256_file
from blindsave.verify import verify
from blindsave.verify.replay import Replay

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"


@pytest.fixture(scope="module")
def found():
    return analyse(read_results(RESULTS), 200)


def test_it_verifies_and_rows_of_its_students_come_out_again():
    checked = verify(ROOT, replay=Replay(60))
    assert checked.ok and checked.released, checked.failures


def test_its_teacher_is_the_one_that_was_named_before_it_existed():
    place = Path("teacher", "teacher.safetensors")
    assert sha256_file(ROOT / "models" / place) == sha256_file(ROOT / "models/teachers/faithful_7303" / place)
    assert "7303 = " in (ROOT / "docs/studies/main.toml").read_text()


@pytest.mark.parametrize("split", PAPER.test_splits)
def test_rates_are_counted_from_rows(found, split):
    saved, shots = Counter(), Counter()
    for row in tables.read(RESULTS / "test" / f"{split}.parquet").to_pylist():
        cell = (row["policy"], row["blackout"])
        saved[cell] += row["save"]
        shots[cell] += 1
    assert {policy for policy, _ in shots} == {*PAPER_FAMILIES, "teacher"}
    for (policy, blackout), number in shots.items():
        assert number == 225 * (1 if policy == "teacher" else 5)
        rate = found.splits[split].principal.rate(policy, blackout).estimate
        assert rate == pytest.approx(saved[policy, blackout] / number)


def test_it_decides_by_the_method_for_few_seeds(found):
    assert all(one.method == "mrmc" for one in found.splits.values()) and found.noise is not None


def test_its_report_says_what_does_not_survive_the_correction(found):
    (noise,) = (one for one in sentences(found, findings(found)) if one.startswith("Under 5 mm of tracking noise"))
    assert noise.endswith("at 400 ms, before correction only.")
    verdicts = {one.claim.id: str(one.verdict) for one in findings(found)}
    assert (verdicts["noise-gru"], verdicts["feed-forward"]) == ("before correction only", "confirmed")
