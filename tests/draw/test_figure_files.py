"""Figures as files: equal figures give equal bytes, and nothing is written under a wrong name."""

import pytest

pytest.importorskip("matplotlib")

from blindsave.draw.figure_files import blank, check_name, encoded, save
from blindsave.errors import BadInput


def drawn(value: float = 1.0):
    figure = blank(2, 1)
    figure.subplots().plot([0, value], label="line")
    return figure


MAGIC = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", MAGIC)
def test_equal_figures_give_equal_bytes_and_others_do_not(tmp_path, kind):
    first, again, other = (
        save(draw, tmp_path / f"{number}.{kind}")[0].read_bytes()
        for number, draw in enumerate((drawn, drawn, lambda: drawn(2.0)))
    )
    assert first == again != other
    assert first.startswith(MAGIC[kind])


def test_a_figure_is_drawn_once_for_all_its_files(tmp_path):
    calls = []
    paths = save(lambda: calls.append(1) or drawn(), tmp_path / "a.png", tmp_path / "deep" / "a.svg")
    assert len(calls) == 1 and [path.name for path in paths] == ["a.png", "a.svg"]
    assert all(path.is_file() for path in paths)


def test_the_size_follows_from_inches_and_resolution():
    from io import BytesIO

    from PIL import Image

    assert Image.open(BytesIO(encoded(drawn(), "png", dpi=100))).size == (200, 100)


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "figure.PNG", "png"])
def test_a_name_of_another_kind_is_refused_before_anything_is_drawn(tmp_path, name):
    with pytest.raises(BadInput, match=r"written as \.png, \.svg or \.pdf"):
        check_name(tmp_path / name)
    with pytest.raises(BadInput):
        save(lambda: pytest.fail("drawn"), tmp_path / "good.png", tmp_path / name)
    assert not list(tmp_path.iterdir())
