"""The teacher commands: what they print, and bad input. Training itself is tested with its package."""

import json
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.cli.teacher import Belief, BenchTrain, Freeze, Info, Train, Validate, parse_overrides
from blindsave.errors import BadInput, BlindsaveError

PUBLISHED = Path(__file__).parents[2] / "results" / "teacher"


def test_overrides_are_one_json_object():
    assert parse_overrides("sizes", '{"deter": 64}') == {"deter": 64}
    assert parse_overrides("sizes", "{}") == {}
    for text in ("[1]", "5", '"deter"', "null"):
        with pytest.raises(BadInput, match="--sizes must be a JSON object"):
            parse_overrides("sizes", text)
    with pytest.raises(BadInput, match="--speed is not JSON"):
        parse_overrides("speed", "{deter: 64}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["teacher", "train", "--sizes", "[]"], "--sizes must be a JSON object"),
        (["teacher", "train", "--learning", "{"], "--learning is not JSON"),
        (["teacher", "validate", "--folder", "nowhere"], "there is no run nowhere"),
        (["teacher", "freeze", "--folder", "nowhere"], r"nowhere/validation\.json does not exist"),
        (["teacher", "info", "--folder", "nowhere"], "nowhere holds no run"),
        (["teacher", "curve", "--folder", "nowhere"], r"nowhere/metrics\.jsonl cannot be read"),
        (["teacher", "belief", "none.safetensors", "--out", "x.png"], r"none\.safetensors"),
        (["teacher", "belief", "none.safetensors", "--out", "x.bmp"], r"x\.bmp"),
        (["bench", "train", "--rounds", "0"], "--rounds must be at least 1"),
        (["bench", "train", "--updates-per-call", "0"], "--updates-per-call must be at least 1"),
        (["bench", "train", "--what", "students", "--rounds", "0"], "--rounds must be at least 1"),
        (["bench", "train", "--variants", "nobody"], "unknown variant 'nobody'"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(words, sentence, tmp_path, monkeypatch):
    pytest.importorskip("jax")
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BlindsaveError, match=sentence) as caught:
        cli.execute(words)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_published_run_is_summarised(capsys):
    cli.execute(["teacher", "info", "--folder", str(PUBLISHED), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["steps"] > 0 and result["selected"] <= result["steps"]
    Info().show(result)
    said = capsys.readouterr().out
    assert f"{result['steps']:,} steps" in said and f"selected step {result['selected']:,}" in said


def test_a_training_says_how_far_it_got_and_what_it_saves(capsys):
    result = {"status": "stopped", "step": 12345, "updates": 678, "folder": "runs/x", "summary": {"saved": 0.5}}
    Train().show(result)
    Train().show(result | {"summary": {}})
    first, second = capsys.readouterr().out.splitlines()
    assert first == "stopped: step 12,345, 678 updates, 50.0% of recent shots saved -> runs/x"
    assert second == "stopped: step 12,345, 678 updates -> runs/x"


def test_the_winner_of_every_mode_is_marked(capsys):
    def row(step: int, mode: str, rate: float) -> dict:
        return {
            "step": step,
            "mode": mode,
            "save_rate": rate,
            "save_rate_by_length": {"0": 1.0, "20": rate},
            "score": 1.5,
        }

    rows = [
        row(10, "deterministic", 0.9),
        row(20, "deterministic", 0.8),
        row(10, "sampled", 0.7),
        row(20, "sampled", 0.75),
    ]
    Validate().show({"split": "validation", "rows": rows, "winner": {"deterministic": 10, "sampled": 20}})
    lines = [line for line in capsys.readouterr().out.splitlines() if "winner" in line]
    assert len(lines) == 2
    assert "10 winner" in lines[0] and "90.00%" in lines[0] and "20 winner" in lines[1] and "75.00%" in lines[1]


def test_what_was_frozen_is_named_by_step_and_hash(capsys):
    Freeze().show({"step": 940000, "file": "t.safetensors", "sha256": "ab" * 32})
    assert capsys.readouterr().out == "step 940,000 -> t.safetensors (SHA-256 abababababababab...)\n"


def test_beliefs_are_shown_shot_by_shot(capsys, tmp_path):
    Belief(tmp_path, tmp_path).show({"mean_error_mm": {"alias:001": 12.34}, "picture": "x.png"})
    assert capsys.readouterr().out == "alias:001: 12.3 mm on average\nx.png\n"


def test_speeds_of_teacher_and_students_are_tables(capsys):
    variants = {"best": {"updates_per_s": 10.0, "ratio_to_first": 1.0, "compile_s": 3.0}}
    BenchTrain().show({"what": "teacher", "device": "cpu", "variants": variants})
    assert "updates/s" in capsys.readouterr().out
    families = {"gru_n8": {"trainer": "C", "transitions_per_s": 5000.0, "times_torch": 12.34}}
    result = {"what": "students", "device": "cpu", "families": families, "collection": {"share_of_arena": 0.875}}
    BenchTrain().show(result)
    said = capsys.readouterr().out
    (line,) = [line for line in said.splitlines() if "gru_n8" in line]
    assert [cell.strip() for cell in line.split("│")[1:-1]] == ["gru_n8", "C", "5000", "-", "12.3", "-"]
    assert "88% of the arena's speed" in said
