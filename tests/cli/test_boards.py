"""Commands about whole numbers and boards."""

import json
import subprocess
import sys

import pytest

from blindsave.cli.boards import BenchBoard, BenchIntegers
from blindsave.deploy.boards import missing_tools
from blindsave.errors import BadInput


def test_whole_numbers_are_compared_with_float_on_the_same_shots(capsys, monkeypatch):
    from blindsave.evidence import schedule as schedules
    from blindsave.task.shots import shots

    real = schedules.schedule
    monkeypatch.setattr(schedules, "schedule", lambda split, lengths: real(split, lengths, members=shots(split)[:20]))
    command = BenchIntegers(seeds=(14303, 14304), blackouts="0,20")
    result = command.run()
    found = result["families"]["structured_k0"]
    assert set(found["rates"]) == {"structured_k0", "structured_k0_int8", "structured_k0_int16"}
    for cells in found["differences"].values():
        for cell in cells.values():
            assert cell["episodes"] == 40 and cell["estimate"] == pytest.approx((cell["gained"] - cell["lost"]) / 40)
    command.show(result)
    assert "minus float" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (BenchIntegers(families=()), "at least one family"),
        (BenchIntegers(seeds=(1, 1)), "named twice"),
        (BenchIntegers(families=("none",)), "there is no policy"),
        (BenchBoard(boards=("z80",)), "there is no board `z80`"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(command, sentence):
    with pytest.raises(BadInput, match=sentence):
        command.run()


def test_a_policy_is_measured_on_a_board_and_shown(capsys):
    if missing := missing_tools():
        pytest.skip(f"{', '.join(missing)} not installed")
    command = BenchBoard(boards=("m3",))
    result = command.run()
    cells = {numbers: one["m3"] for numbers, one in result["policies"]["structured_k0/14303"].items()}
    assert result["ok"] and cells["int8"]["flash_bytes"] <= 16_384 < cells["int16"]["flash_bytes"]
    assert cells["int8"]["instructions_per_step"] * 5 < cells["float"]["instructions_per_step"]
    command.show(result)
    assert "every bit equal" in capsys.readouterr().out


def test_whole_numbers_are_exported_with_the_loop_beside_them(tmp_path):
    words = [
        sys.executable,
        "-m",
        "blindsave",
        "export",
        "feed_forward/14303",
        "--format",
        "drive",
        "--numbers",
        "int8",
    ]
    done = subprocess.run([*words, "--out", str(tmp_path), "--json"], capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    assert result["ok"] and result["numbers"] == "int8"
    assert {file["path"].rpartition("/")[2] for file in result["files"]} >= {"drive.c", "drive_policy.h", "posix.c"}
    words[words.index("drive")] = "onnx"
    refused = subprocess.run([*words, "--out", str(tmp_path)], capture_output=True, text=True)
    assert refused.returncode == 2 and "--format c or drive" in refused.stderr
