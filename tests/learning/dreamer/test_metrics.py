"""What a run tells about itself: recent episodes, lines that survive a kill, and a remark."""

import json

import numpy as np
import pytest

from blindsave.errors import BadFile
from blindsave.learning.dreamer import metrics
from blindsave.learning.dreamer.metrics import Episodes, MetricsFile, read, remark
from blindsave.learning.dreamer.stream import Finished, Seen


def seen(reward, first, last):
    blank = np.zeros((2, 1), np.float32)
    flags = np.array(last, bool)
    return Seen(blank, blank, np.float32(reward), np.array(first, bool), flags, flags)


def test_returns_and_lengths_are_counted_per_environment_and_the_reset_is_no_step():
    episodes = Episodes(2)
    assert episodes.summary() == {"episodes": 0}
    episodes.add(seen([9, 9], [1, 1], [0, 0]), [])  # whatever a reset says about reward does not count
    episodes.add(seen([1, 2], [0, 0], [0, 1]), [Finished({"saved": 1.0}, "0")])
    episodes.add(seen([3, 0], [0, 1], [1, 0]), [Finished({"saved": 0.0}, "6-10")])
    summary = episodes.summary()
    assert (summary["episodes"], summary["return"], summary["length"], summary["saved"]) == (2, 3.0, 1.5, 0.5)
    assert summary["saved_by_group"] == {"0": 1.0, "6-10": 0.0}


def test_groups_are_in_the_order_of_their_lengths_and_absent_where_there_is_one():
    episodes = Episodes(2)
    for group in ("16-20", "0", "6-10", "1-5"):
        episodes.add(seen([0, 0], [0, 0], [1, 0]), [Finished({"saved": 1.0}, group)])
    assert list(episodes.summary()["saved_by_group"]) == ["0", "1-5", "6-10", "16-20"]
    alone = Episodes(2)
    alone.add(seen([0, 0], [0, 0], [1, 0]), [Finished({"saved": 1.0})])
    assert "saved_by_group" not in alone.summary()


def test_only_recent_episodes_are_averaged_but_all_are_counted(monkeypatch):
    monkeypatch.setattr(metrics, "RECENT_EPISODES", 2)
    episodes = Episodes(2)
    for saved in (0.0, 1.0, 1.0):
        episodes.add(seen([0, 0], [0, 0], [1, 0]), [Finished({"saved": saved})])
    assert (episodes.summary()["episodes"], episodes.summary()["saved"]) == (3, 1.0)


def test_an_end_without_a_report_is_an_error():
    with pytest.raises(ValueError, match="zip"):
        Episodes(2).add(seen([0, 0], [0, 0], [1, 1]), [Finished({"saved": 1.0})])


def test_a_resumed_run_drops_the_lines_after_its_state(tmp_path):
    path = tmp_path / "run" / "metrics.jsonl"
    file = MetricsFile(path, 0)
    for step in (10, 20, 30):
        file.add({"step": step})
    MetricsFile(path, 20).add({"step": 25})
    assert [line["step"] for line in read(path)] == [10, 20, 25]


def test_a_half_written_last_line_is_left_out_and_gone_after_resuming(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 10}\n{"step": 2')
    assert read(path) == [{"step": 10}]
    MetricsFile(path, 10).add({"step": 20})
    assert path.read_text() == '{"step": 10}\n{"step": 20}\n'


@pytest.mark.parametrize("rest", [b"\xff\xfe\n", b"\x00\x00\x00"])
def test_a_tail_of_garbage_is_left_out_like_a_half_written_line(tmp_path, rest):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 10}\n' + rest)
    assert read(path) == [{"step": 10}]


def test_a_missing_file_is_named_and_a_number_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"metrics\.jsonl cannot be read: No such file"):
        read(tmp_path / "metrics.jsonl")
    file = MetricsFile(tmp_path / "metrics.jsonl", 0)
    with pytest.raises(ValueError, match="JSON compliant"):
        file.add({"step": 1, "loss": float("nan")})
    assert read(tmp_path / "metrics.jsonl") == []


def test_a_remark_holds_the_figures_there_are():
    line = json.loads('{"steps_per_s": 812.4, "updates_per_s": 3.21, "loss": 1.5, "saved": 0.25, "kl": 1}')
    assert remark(line) == "812 steps/s  3.2 updates/s  loss 1.500  saved 0.250"
