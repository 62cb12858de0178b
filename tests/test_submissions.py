"""Our own submissions, the first of the leaderboard: they verify, and are the published rows."""

from pathlib import Path

import pytest

from blindsave.evidence import tables
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.submissions import verify_submission
from blindsave.submissions.layout import PRINCIPAL, ROWS, Submission
from blindsave.verify.replay import Replay

REPOSITORY = Path(__file__).parents[1]
OURS = (*PAPER_FAMILIES, "teacher")


@pytest.mark.parametrize("name", OURS)
def test_it_verifies_as_far_as_a_few_rows_played_again_tell(name):
    found = verify_submission(REPOSITORY / "submissions" / name, Replay(4))
    assert found.ok, found.failures
    assert found.checked["rows"] == 2700 * found.checked["models"]


@pytest.mark.parametrize("name", OURS)
def test_its_rows_on_the_principal_test_are_the_published_ones(name):
    published = tables.read(REPOSITORY / "results/test/principal_test.parquet")
    mine = tables.of_split(tables.read(REPOSITORY / "submissions" / name / ROWS), PRINCIPAL)
    theirs = published.filter(published["policy"].to_numpy(zero_copy_only=False) == name)
    assert mine.drop_columns("action_mse").equals(theirs.drop_columns("action_mse"))


def test_the_table_holds_every_one_of_them():
    text = (REPOSITORY / "submissions" / "leaderboard.md").read_text("utf-8")
    for name in OURS:
        assert f"| {Submission.read(REPOSITORY / 'submissions' / name).about.title} |" in text
    assert "Refused" not in text
