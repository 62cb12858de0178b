"""Pictures of a teacher's run."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from blindsave.diagnostics.openloop import Prediction
from blindsave.diagnostics.teacher_pictures import learning_curve, open_loop
from blindsave.draw.figure_files import encoded
from blindsave.errors import BadFile, BadInput

pytestmark = pytest.mark.filterwarnings("ignore:No artists with labels:UserWarning")


@pytest.fixture
def folder(tmp_path):
    lines = [
        {"step": 100, "return": 0.1, "saved": 0.2},
        {"step": 200, "return": 0.5, "saved": 0.4, "loss_reward": 2.0, "kl": 3.0},
    ]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def labelled(axes) -> dict[str, list]:
    return {line.get_label(): list(line.get_ydata()) for line in axes.lines}


def test_curves_show_what_was_logged_and_validation_where_there_is_some(folder):
    table = [{"mode": "sampled", "step": 200, "save_rate": 0.45}]
    rates, losses, model, behaviour = learning_curve(folder, table).axes
    assert labelled(rates) == {"training, recent episodes": [0.2, 0.4], "validation, sampled": [0.45]}
    assert labelled(losses) == {"reward": [2.0]} and labelled(model) == {"kl": [3.0]}
    assert labelled(behaviour) == {"return": [0.1, 0.5]}


def test_a_run_without_metrics_is_said_to_have_none(tmp_path):
    with pytest.raises(BadFile, match="cannot be read"):
        learning_curve(tmp_path)
    (tmp_path / "metrics.jsonl").write_text("")
    with pytest.raises(BadInput, match="has no metrics to draw"):
        learning_curve(tmp_path)


def test_beliefs_are_drawn_only_where_some_future_shows_the_puck():
    truth = np.column_stack([np.linspace(2, 1, 3), np.zeros(3)])
    mean = truth + np.array([[0.003, 0.004], [0, 0], [np.nan, np.nan]])
    prediction = Prediction(5, truth, mean, np.full((3, 2), 0.01), np.array([1.0, 0.5, 0.0]))
    figure = open_loop([prediction, prediction], ["left post", "right post"])
    paths, errors = figure.axes[:2], figure.axes[2:]
    assert [axes.get_title() for axes in paths] == ["left post", "right post"]
    assert errors[0].lines[0].get_xdata().tolist() == [5, 6]
    assert errors[0].lines[0].get_ydata().tolist() == pytest.approx([5.0, 0.0])
    assert encoded(figure, "png", dpi=30).startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="zip"):
        open_loop([prediction], ["one", "too many"])
