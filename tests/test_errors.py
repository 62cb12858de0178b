"""Errors: one family that a caller can catch, told apart by what a caller can do about them."""

from pathlib import Path

import pytest

from blindsave import errors, store


def test_bad_input_is_caught_as_a_value_error_and_as_ours():
    for kind in (ValueError, errors.BlindsaveError):
        with pytest.raises(kind, match="no such split"):
            raise errors.BadInput("no such split")


def test_a_bad_file_is_not_mistaken_for_bad_input():
    assert not issubclass(errors.BadFile, errors.BadInput | ValueError)
    assert not issubclass(errors.DiskFull, errors.BadFile)


def test_damage_names_the_piece_to_make_again():
    error = errors.Damaged("it is damaged", Path("a/b"))
    assert (str(error), error.piece) == ("it is damaged", Path("a/b"))
    assert isinstance(error, errors.BadFile)


def test_a_changed_artifact_is_damage_and_the_piece_is_its_folder(tmp_path):
    made = store.make(tmp_path, "kind", {}, {}, lambda folder: (folder / "a.txt").write_text("a") and None)
    made.path("a.txt").write_text("b")
    with pytest.raises(errors.Damaged) as caught:
        store.open_artifact(made.folder)
    assert caught.value.piece == made.folder
    assert "\n" not in str(caught.value)
