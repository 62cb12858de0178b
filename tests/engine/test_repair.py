"""Damage is set aside where the piece can be made again, and raised anywhere else."""

from functools import partial
from pathlib import Path

import pytest

from blindsave import store
from blindsave.engine.repair import quarantine, with_repair
from blindsave.errors import BadFile, Damaged


def test_damage_elsewhere_is_raised(site):
    def harm(piece: Path) -> None:
        raise Damaged("harmed", piece)

    with pytest.raises(BadFile, match="harmed"):
        with_repair(site, partial(harm, site.results / "table"), print)
    with pytest.raises(BadFile, match="harmed"):  # made again, and damaged again
        with_repair(site, partial(harm, site.work / "piece"), lambda sentence: None)


def test_pieces_set_aside_keep_their_place_and_never_replace_one_another(site):
    sentences = []
    for content in ("first", "second", "third"):
        piece = store.write_whole(site.work / "grid" / "ab", content)
        sentences.append(quarantine(site, Damaged("ab is damaged", piece)))
    aside = site.work / "damaged" / "grid"
    assert {path.name: path.read_text() for path in aside.iterdir()} == {
        "ab": "first",
        "ab-1": "second",
        "ab-2": "third",
    }
    assert sentences[2] == f"ab is damaged; it was moved to {aside / 'ab-2'} and is made again"


def test_a_piece_that_is_gone_already_is_just_made_again(site):
    assert quarantine(site, Damaged("ab is lost", site.work / "ab")) == "ab is lost; it is made again"


def test_a_way_out_of_the_work_folder_does_not_make_a_piece_its_own(site):
    table = store.write_whole(site.results / "table", "rows")
    site.work.mkdir()
    (site.work / "link").symlink_to(table)
    for piece in (site.work / ".." / "results" / "table", site.work / "link"):
        with pytest.raises(Damaged):
            quarantine(site, Damaged("harmed", piece))
    assert table.read_text() == "rows"


def test_several_pieces_are_mended_one_after_the_other(site):
    pieces = [store.write_whole(site.work / name, "half") for name in ("a", "b")]
    said = []

    def do() -> str:
        for piece in pieces:
            if piece.exists():
                raise Damaged(f"{piece.name} is damaged", piece)
        return "done"

    assert with_repair(site, do, said.append) == "done"
    assert [sentence.partition(";")[0] for sentence in said] == ["a is damaged", "b is damaged"]
