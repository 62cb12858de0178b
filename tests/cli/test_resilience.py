"""The commands that look for a difference between runs of a study: what they ask for and what they say."""

import json

import pytest

from blindsave.cli import execute
from blindsave.errors import BadInput
from blindsave.stages import resilience

EQUAL = {"files_compared": 31, "different": [], "equal": True}
OTHER = {"files_compared": 31, "different": ["a.parquet", "b.csv"], "equal": False}


@pytest.fixture
def asked(monkeypatch):
    """What the commands ask for, answered without a study."""
    heard = {}

    def kill(home, words, kills, seed, tell):
        heard.update(home=home, words=words, kills=kills, seed=seed)
        return {"kills": kills - 1, "asked_for": kills, **OTHER}

    def engines(home, words, engines, tell):
        heard.update(home=home, words=words, engines=engines)
        runs = [{"engine": " ".join(engine), "wall_s": 61.4, **EQUAL} for engine in engines]
        return {"runs": runs, "equal": True}

    monkeypatch.setattr(resilience, "kill_and_compare", kill)
    monkeypatch.setattr(resilience, "engines_and_compare", engines)
    return heard


def test_a_difference_after_kills_is_named(asked, tmp_path, capsys):
    words = ["bench", "resume", "--kills", "4", "--seed", "9", "--folder", str(tmp_path)]
    execute(words)
    assert capsys.readouterr().out == "smoke study killed 3 times: 31 files, DIFFERENT: a.parquet, b.csv\n"
    assert asked == {"home": tmp_path, "words": ["--scale", "smoke"], "kills": 4, "seed": 9}
    execute([*words, "--json"])
    result = json.loads(capsys.readouterr().out)
    assert (result["scale"], result["asked_for"]) == ("smoke", 4) and result["measured_on"]["machine"]["cores"] >= 1


def test_every_engine_runs_the_same_study(asked, capsys):
    execute(["bench", "engines", "--scale", "quick", "--workers", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "quick study, --engine here, 61 s: 31 files, all equal"
    assert [engine[1] for engine in asked["engines"]] == ["here", "workers", "ray"]
    assert all(engine[2:] == ["--workers", "3"] for engine in asked["engines"][1:])
    assert asked["words"] == ["--scale", "quick"]
    assert not asked["home"].exists()  # a temporary folder, gone


@pytest.mark.parametrize(("command", "option"), [("resume", "--kills"), ("engines", "--workers")])
def test_nothing_to_do_is_refused(asked, command, option):
    with pytest.raises(BadInput, match=f"{option} must be at least 1, got 0"):
        execute(["bench", command, option, "0"])
    assert not asked
