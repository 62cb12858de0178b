"""The paper's study on the faithful teacher, as it is shipped: whole, verified, and counted from its rows."""

from collections import Counter
from pathlib import Path

import pytest

from blindsave.evidence import tables
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.analysis import analyse
from blindsave.report.claims import findings
from blindsave.report.results import read_results
from blindsave.report.summary import sentences
from blindsave.stages.scales import PAPER, TRAINING_SEEDS
from blindsave.verify import verify
from blindsave.verify.replay import Replay

STUDY = Path(__file__).parents[1] / "results" / "main" / "faithful_7303"
MODELS = Path(__file__).parents[1] / "models" / "main" / "faithful_7303"


@pytest.fixture(scope="module")
def found():
    return analyse(read_results(STUDY), 200)


def test_it_verifies_and_rows_of_its_students_come_out_again():
    checked = verify(STUDY, replay=Replay(60))
    assert checked.ok and checked.released, checked.failures


def test_every_final_student_is_shipped():
    for name in PAPER_FAMILIES:
        files = sorted(path.stem for path in (MODELS / "students" / name).glob("*.safetensors"))
        assert files == [str(seed) for seed in TRAINING_SEEDS]


@pytest.mark.parametrize("split", PAPER.test_splits)
def test_rates_are_counted_from_rows(found, split):
    saved, shots = Counter(), Counter()
    for row in tables.read(STUDY / "test" / f"{split}.parquet").to_pylist():
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
