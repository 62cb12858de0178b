"""The thin entry: train, stop, resume, validate."""

import json

import pytest

from blindsave.learning.dreamer import checkpoint, run
from blindsave.learning.dreamer.__main__ import main as thin_entry


def test_the_thin_entry_trains_stops_resumes_and_validates(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run, "BEGUN", run.time.monotonic())
    sizes = {"deter": 16, "hidden": 8, "categoricals": 4, "blocks": 2, "units": 16, "bins": 21}
    common = {"folder": str(tmp_path), "steps": 320, "envs": 4, "threads": 1, "sizes": sizes}
    thin_entry(["train", json.dumps(common | {"minutes": 0})])
    stopped = json.loads(capsys.readouterr().out)
    assert stopped["status"].startswith("stopped")
    assert stopped["step"] == 0
    thin_entry(["train", json.dumps(common)])
    finished = json.loads(capsys.readouterr().out)
    assert (finished["status"], finished["step"], finished["resumed_at"]) == ("finished", 320, 0)
    assert checkpoint.Folder(tmp_path).steps("params") == [0, 320]
    run.validate_teacher(tmp_path, lengths=(0, 5), shot_count=2, modes=("deterministic",))
    table = json.loads((tmp_path / "validation.json").read_text())
    assert [row["step"] for row in table["rows"]] == [0, 320]
    assert table["winner"]["deterministic"] in (0, 320)
    with pytest.raises(SystemExit, match="holds no checkpoints"):
        thin_entry(["pack", json.dumps({"folder": str(tmp_path / "nothing"), "out": str(tmp_path)})])
    with pytest.raises(SystemExit, match="there is no command `fly`; there are train, validate"):
        thin_entry(["fly", "{}"])
    with pytest.raises(SystemExit, match=r"`train` does not take these options.*'wings'"):
        thin_entry(["train", json.dumps(common | {"wings": 2})])
    for words in (["train"], ["train", "{"], ["train", "{}", "more"]):
        with pytest.raises(SystemExit, match="one JSON object"):
            thin_entry(words)
