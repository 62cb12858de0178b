"""Places that cannot be written are found before any work."""

from pathlib import Path

import pytest

from blindsave import cli
from blindsave.cli.targets import refuse_unwritable
from blindsave.errors import BadInput


@pytest.fixture
def here(tmp_path) -> Path:
    (tmp_path / "file").write_text("kept")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    return tmp_path


@pytest.mark.parametrize(
    ("place", "kind", "sentence"),
    [
        ("folder", "file", "is a folder, and a file is wanted"),
        ("file", "folder", "is a file, and a folder is wanted"),
        ("file/below", "file", "nothing can be written below it"),
        ("file/far/below", "folder", "nothing can be written below it"),
        ("dangling", "folder", "a link to nothing"),
        ("dangling/below", "file", "a link to nothing"),
        ("/proc/nowhere/x", "file", "cannot be written"),
        ("/dev/null", "file", "not a regular file"),
        ("x" * 250, "file", "longer"),
        ("x" * 300 + "/y", "file", "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(here, place, kind, sentence):
    with pytest.raises(BadInput, match=sentence):
        refuse_unwritable(here / place, kind)


@pytest.mark.parametrize(
    ("place", "kind"),
    [("file", "file"), ("new/deep/file", "file"), ("folder", "folder"), ("link/new", "folder"), ("link/x", "file")],
)
def test_trying_a_place_leaves_it_as_it_was(here, place, kind):
    before = sorted(here.rglob("*"))
    refuse_unwritable(here / place, kind)
    assert sorted(here.rglob("*")) == before and (here / "file").read_text() == "kept"


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "inactive", "--out", "folder"],
        ["evaluate", "inactive", "--work", "file"],
        ["report", "--results", "folder", "--out", "file/x"],
        ["render", "--out", "file/x.png"],
        ["export", "feed_forward/14303", "--out", "file"],
        ["memory-swap", "teacher", "--out", "folder"],
        ["distil", "students", "--work", "dangling"],
        ["dataset", "export", "folder", "--out", "file"],
        ["study", "--scale", "smoke", "--folder", "file"],
    ],
)
def test_commands_try_their_targets_first(here, monkeypatch, words):
    monkeypatch.chdir(here)
    before = sorted(here.rglob("*"))
    with pytest.raises(BadInput, match=r"folder|file|nothing"):
        cli.execute(words)
    assert sorted(here.rglob("*")) == before


def test_other_errors_of_the_operating_system_are_one_sentence(here, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["blindsave", "shots"])

    def fails(args):
        raise OSError(5, "Input/output error", "some/place")

    monkeypatch.setattr(cli, "execute", fails)
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    assert stopped.value.code == 2 and capsys.readouterr().err == "blindsave: some/place: Input/output error\n"
