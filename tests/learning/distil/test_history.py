"""What a training reported: rows, JSON lines, and files that are not."""

import json

import numpy as np
import pytest

from blindsave.errors import BadFile
from blindsave.learning.distil.history import History, read_lines


def row(*values):
    return dict.fromkeys(("train_loss", "validation_loss", "gradient_norm"), values)


def test_epochs_are_appended_without_changing_what_was():
    empty = History.empty(2)
    one = empty.appended(row(0.5, 0.4), 1.5)
    two = one.appended(row(0.3, np.nan), 2.5)
    assert (len(empty), len(one), len(two)) == (0, 1, 2)
    np.testing.assert_array_equal(two.train_loss, np.float32([[0.5, 0.4], [0.3, np.nan]]))
    assert two.seconds.tolist() == [1.5, 2.5]
    assert one.train_loss.shape == (1, 2)


def test_lines_are_one_per_epoch_and_seed_that_was_still_training(tmp_path):
    history = History.empty(2).appended(row(0.5, 0.25), 1.23456).appended(row(0.125, np.nan), 1.0)
    path = tmp_path / "metrics.jsonl"
    path.write_text(history.lines((14303, 14304)))
    rows = read_lines(path)
    assert [(r["epoch"], r["seed"], r["train_loss"]) for r in rows] == [
        (1, 14303, 0.5),
        (1, 14304, 0.25),
        (2, 14303, 0.125),
    ]
    assert rows[0]["epoch_seconds"] == 1.235
    assert set(rows[0]) == {"epoch", "seed", "train_loss", "validation_loss", "gradient_norm", "epoch_seconds"}


def test_no_epoch_is_no_line():
    assert History.empty(3).lines((1, 2, 3)) == ""


@pytest.mark.parametrize("content", [b"not json\n", json.dumps({"epoch": 1}).encode() + b"\n{", b"\xff\xfe"])
def test_a_file_that_is_no_metrics_file_is_named(tmp_path, content):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"metrics\.jsonl is not a metrics file"):
        read_lines(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadFile, match=r"nothing\.jsonl cannot be read: No such file"):
        read_lines(tmp_path / "nothing.jsonl")
