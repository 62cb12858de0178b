import json
import shutil
import signal
import subprocess
import sys

import pytest

from blindsave import cli
from blindsave.diagnostics.probe import load_probe, probe_file
from blindsave.errors import BadInput
from blindsave.play.server import Arena
from blindsave.policies import catalog
from blindsave.policies.students.student import Student
from blindsave.task import shots as shots_module


@pytest.fixture
def few(tmp_path, monkeypatch):
    """A folder of models with one recurrent and one memoryless student, and short splits."""
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path / "models"))
    for family in ("structured_k0", "feed_forward"):
        Student.untrained(family, 14303).save(catalog.student_file(family, 14303))
    whole = shots_module.shots
    monkeypatch.setattr(shots_module, "shots", lambda split: whole(split)[:40])
    return tmp_path


def test_probe_fits_every_shipped_policy_and_draws_them(few, capsys):
    pytest.importorskip("matplotlib", reason="the extra `report` (matplotlib) is not installed")
    cli.execute(["probe", "--out", str(few / "out"), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert set(result["policies"]) == {"structured_k0/14303", "feed_forward/14303"}
    assert result["policies"]["feed_forward/14303"]["reads"] == "observation"
    for name, figures in result["policies"].items():
        assert load_probe(probe_file(name)).figures == figures
    assert {p.name for p in (few / "out").iterdir()} == {"probe.json", "probe.png", "probe.svg"}
    first = {p.name: p.read_bytes() for p in (few / "out").iterdir()}
    stamp = probe_file("feed_forward/14303").stat().st_mtime_ns
    shutil.rmtree(few / "out")
    cli.execute(["probe", "feed_forward/14303", "--out", str(few / "out")])
    assert "feed_forward" in capsys.readouterr().out
    assert {p.name: p.read_bytes() for p in (few / "out").iterdir()} == first
    assert probe_file("feed_forward/14303").stat().st_mtime_ns == stamp, "what fits is not fitted again"


def test_probe_names_a_policy_it_does_not_have(few):
    with pytest.raises(BadInput, match="gru_n64/14303"):
        cli.execute(["probe", "gru_n64/14303", "--out", str(few / "out")])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "70000"],
        ["--visitors", "0"],
        ["--seconds", "-1"],
        ["--seconds", "nan"],
        ["--host", "203.0.113.7", "--port", "0"],
        ["--host", "no such host"],
        ["nobody"],
        ["teacher", "privileged", "inactive"],
    ],
)
def test_play_refuses_what_cannot_be_before_it_serves(arguments, capsys):
    with pytest.raises(BadInput):
        cli.execute(["play", "--no-browser", *arguments])
    assert "the arena is open" not in capsys.readouterr().err


def test_play_opens_and_closes_with_the_policies_it_was_given(few, capsys, monkeypatch):
    opened = []

    class Watched(Arena):
        def announce(self):
            opened.append(self.roster.pair)
            super().announce()

    monkeypatch.setattr("blindsave.play.server.Arena", Watched)
    file = str(catalog.student_file("structured_k0", 14303))
    cli.execute(["play", file, "privileged", "--port", "0", "--seconds", "0.2", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["loopback"] is True and result["shots"] == 0 and result["address"].startswith("http://localhost:")
    assert opened == [("structured_k0/14303", "privileged")]


def test_a_polite_request_to_end_still_gets_the_figures():
    command = [sys.executable, "-m", "blindsave", "play", "--port", "0", "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stdout is not None
        assert "the arena is open" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert json.loads(process.stdout.read())["faults"] == 0
    assert process.returncode == 0
