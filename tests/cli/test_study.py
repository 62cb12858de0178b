"""What a running study says about the time that is left."""

from types import SimpleNamespace

import pytest

from blindsave import study
from blindsave.cli.study import run_study


@pytest.mark.parametrize(
    ("took", "said"),
    [
        (200.0, "about 10 min; 10 min left"),  # twice as slow as estimated: so will be the next stage
        (1.0, "about 5 min; 5 min left"),  # its work was found done: no event about the machine
    ],
)
def test_estimates_learn_from_stages_that_worked_and_not_from_those_that_found_their_work_done(
    took, said, monkeypatch, capsys
):
    estimates = [SimpleNamespace(seconds=100.0), SimpleNamespace(seconds=300.0)]
    first, second = (SimpleNamespace(name=name, method="Something is done.") for name in ("one", "two"))

    def events(*_):
        done = {"wall_s": took, "results": []}
        yield SimpleNamespace(stage=first, what="begun", left=estimates, record=None)
        yield SimpleNamespace(stage=first, what="ran", left=estimates[1:], record=done)
        yield SimpleNamespace(stage=second, what="begun", left=estimates[1:], record=None)
        yield SimpleNamespace(stage=second, what="ran", left=[], record=done)

    monkeypatch.setattr(study, "run", events)
    run_study(SimpleNamespace(scale=SimpleNamespace(name="tiny"), folder="somewhere"))
    lines = [line for line in capsys.readouterr().err.splitlines() if "two: Something" in line]
    assert len(lines) == 1 and said in lines[0]


def test_a_study_that_was_moved_names_the_report_where_it_is_now(monkeypatch, capsys, tmp_path):
    stage = SimpleNamespace(name="report", method="It is reported.")
    done = {"wall_s": 1.0, "results": [{"page": "old/place/results/report/report.html"}]}
    monkeypatch.setattr(
        study, "run", lambda *_: iter([SimpleNamespace(stage=stage, what="skipped", left=[], record=done)])
    )
    site = SimpleNamespace(scale=SimpleNamespace(name="tiny"), folder=tmp_path, results=tmp_path / "results")
    assert run_study(site)["report"] == str(tmp_path / "results" / "report" / "report.html")
