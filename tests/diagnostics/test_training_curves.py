"""Learning curves of students."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from blindsave.diagnostics import curve_table
from blindsave.diagnostics.training_curves import draw_curves
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.history import History


def metrics(tmp_path):
    history = History.empty(2)
    for train, validation in (((4.0, 2.0), (5.0, 3.0)), ((1.0, np.nan), (2.0, np.nan))):
        row = {"train_loss": train, "validation_loss": validation, "gradient_norm": (1.0, 1.0)}
        history = history.appended(row, 1.0)
    path = tmp_path / "metrics.jsonl"
    path.write_text(history.lines((14304, 14303)))
    return path


def test_every_seed_has_a_solid_and_a_dotted_line_of_one_colour(tmp_path):
    (axes,) = draw_curves(metrics(tmp_path)).axes
    solid, dotted = axes.lines[::2], axes.lines[1::2]
    assert [line.get_label() for line in solid] == ["14303", "14304"]
    assert [list(line.get_ydata()) for line in solid] == [[3.0], [5.0, 2.0]]
    assert [list(line.get_ydata()) for line in dotted] == [[2.0], [4.0, 1.0]]
    assert [line.get_color() for line in solid] == [line.get_color() for line in dotted]
    assert axes.get_yscale() == "log"


def test_a_file_without_epochs_and_one_that_is_missing_are_named(tmp_path):
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(BadInput, match=r"metrics\.jsonl holds no epochs"):
        draw_curves(tmp_path / "metrics.jsonl")
    with pytest.raises(BadFile, match="cannot be read"):
        draw_curves(tmp_path / "nothing.jsonl")


def test_a_studys_file_is_drawn_like_the_file_of_one_of_its_trainings(tmp_path):
    one = metrics(tmp_path)
    packed = curve_table.add(tmp_path / "curves.parquet", "collectors", {"gru_n64": one})
    found = [draw_curves(one), draw_curves(packed, "gru_n64", "collectors")]
    lines = [[(line.get_label(), line.get_xydata().tolist()) for line in figure.axes[0].lines] for figure in found]
    assert lines[0] == lines[1]
    with pytest.raises(BadInput, match="has no finals of no family; it has collectors of gru_n64"):
        draw_curves(packed)
