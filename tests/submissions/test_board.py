"""The leaderboard: verified submissions only, beside the reference, on the same shots."""

import json
import shutil
from html.parser import HTMLParser

import pytest
from forged_rows import forge_row

from blindsave import store
from blindsave.cli import execute
from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.policies.catalog import model_file
from blindsave.submissions import board as boards
from blindsave.submissions import board_files
from blindsave.submissions.layout import ROWS, published_plan


@pytest.fixture(scope="module")
def reference(packed):
    """The teacher's rows over the few shots, in place of the published ones."""
    rows = tables.of_split(tables.read(packed / "teacher" / ROWS), "principal_test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boards, "_reference", lambda plan: (rows, store.sha256_file(model_file("teacher"))))
        yield rows


@pytest.fixture(scope="module")
def made(packed, reference, tmp_path_factory):
    return boards.board(boards.folders(packed), published_plan(), tmp_path_factory.mktemp("work"))


def test_entries_are_ranked_and_compared_with_the_reference(made):
    assert {one.name for one in made.entries} == {"forgetful", "teacher"} and not made.refused
    rates = [one.rates[20].estimate for one in made.entries]
    assert rates == sorted(rates, reverse=True)
    by_name = {one.name: one for one in made.entries}
    assert by_name["teacher"].difference is None
    apart, own = by_name["forgetful"].difference, by_name["forgetful"].rates[20]
    assert apart is not None and apart.low <= apart.estimate <= apart.high
    assert apart.estimate == pytest.approx(own.estimate - by_name["teacher"].rates[20].estimate)
    assert own.low <= own.estimate <= own.high


def test_markdown_and_page_hold_every_entry_and_escape_what_people_write(made):
    text, page = board_files.markdown(made), board_files.page(made)
    assert "No \\| memory" in text and text.count("\n| ") == 3
    assert '<a href="https://example.org/none">No | memory</a>' in page and "A. Nobody" in page
    assert "$" not in page
    Strict().feed(page)


class Strict(HTMLParser):
    """Nothing is fetched from elsewhere."""

    def handle_starttag(self, tag, attrs):
        assert tag not in ("script", "img", "iframe")
        assert tag != "link" or dict(attrs)["href"] == "data:,"


def test_a_link_that_runs_code_is_not_made(made):
    one = made.entries[0]
    wicked = boards.Submission(**vars(one.submission) | {"about": boards_about("javascript:alert(1)")})
    page = board_files.page(boards.Board((boards.Entry(**vars(one) | {"submission": wicked}),), {}, made.plan))
    assert "javascript" not in page and "&lt;b&gt;" in page


def boards_about(link):
    from blindsave.submissions.layout import About

    return About("<b>", link=link)


def test_a_forged_submission_is_refused_named_and_not_ranked(packed, reference, tmp_path, capsys):
    shutil.copytree(packed, tmp_path / "all")
    forge_row(tmp_path / "all" / "forgetful")
    with pytest.raises(SystemExit) as stop:
        execute(["leaderboard", str(tmp_path / "all"), "--work", str(tmp_path / "work"), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert stop.value.code == 1 and [one["name"] for one in said["entries"]] == ["teacher"]
    assert said["refused"]["forgetful"][0]["file"] == ROWS
    assert "Refused" in (tmp_path / "all" / "leaderboard.md").read_text()


def test_what_was_verified_is_not_played_again_until_a_byte_changes(packed, reference, tmp_path, monkeypatch):
    folder = shutil.copytree(packed / "teacher", tmp_path / "teacher")
    assert boards.remembered(folder, tmp_path / "work", None).ok
    played = []
    monkeypatch.setattr(boards, "verify_submission", lambda *_: played.append(1) or pytest.fail("played again"))
    assert boards.remembered(folder, tmp_path / "work", None).ok and not played
    (folder / "README.md").write_text("x")
    with pytest.raises(pytest.fail.Exception):
        boards.remembered(folder, tmp_path / "work", None)


def test_a_folder_without_submissions_is_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no submission"):
        boards.folders(tmp_path)
    with pytest.raises(BadInput, match="there is no folder"):
        boards.folders(tmp_path / "nowhere")
