"""The commands that compare."""

import pytest

from blindsave.cli import execute
from blindsave.cli.submissions import Submit
from blindsave.errors import BadInput


def test_a_family_means_all_its_shipped_seeds():
    assert Submit(("gru_n64",))._names() == [f"gru_n64/{seed}" for seed in range(14303, 14308)]
    assert Submit(("gru_n64/14303", "teacher"))._names() == ["gru_n64/14303", "teacher"]


def test_what_cannot_be_packed_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["teacher", "gru_n64"], ["privileged"], []):
        with pytest.raises(BadInput):
            execute(["submit", *words])
    assert not list(tmp_path.iterdir())
