"""A published teacher is what its run's files say it is, and freezing it again gives the same file."""

import json

import numpy as np
import pytest
from studies import REPOSITORY, TERMINATED, TERMINATED_MODELS

from blindsave.cli import execute
from blindsave.errors import BadFile, BadInput
from blindsave.learning.dreamer import checkpoint, freeze, summary
from blindsave.policies import files
from blindsave.store import sha256_file

TEACHER, AGENT = (TERMINATED_MODELS / "teacher" / name for name in ("teacher.safetensors", "agent.safetensors"))
RUN = TERMINATED / "teacher"
MAIN = REPOSITORY / "results/teacher"


def test_the_main_studys_teacher_is_the_selected_checkpoint_of_its_run():
    _, about = files.read_policy(REPOSITORY / "models/teacher/teacher.safetensors")
    assert about["step"] == freeze.selected_step(MAIN) == summary.summarise_run(MAIN)["selected"]


def test_the_teacher_is_the_selected_checkpoint_of_the_published_run():
    _, about = files.read_policy(TEACHER)
    assert about["step"] == freeze.selected_step(RUN) == summary.summarise_run(RUN)["selected"]
    assert about["notes"]["source_sha256"] == sha256_file(AGENT)
    assert about["notes"]["training"]["steps"] == summary.summarise_run(RUN)["steps"] == 1_000_000


def test_freezing_the_agent_again_gives_the_teachers_parameters(tmp_path):
    folder = checkpoint.Folder(tmp_path / "run")
    step = freeze.selected_step(RUN)
    target = folder.path("params", step)
    target.parent.mkdir(parents=True)
    target.write_bytes(AGENT.read_bytes())
    freeze.freeze(folder.root, tmp_path / "again.safetensors", step=step)
    again, _ = files.read_policy(tmp_path / "again.safetensors")
    shipped, _ = files.read_policy(TEACHER)
    assert again.keys() == shipped.keys()
    assert all(np.array_equal(again[name], shipped[name]) for name in shipped)


def test_nothing_is_frozen_from_a_run_without_a_table_or_a_table_without_rows(tmp_path):
    with pytest.raises(BadFile, match="validate"):
        freeze.freeze(tmp_path, tmp_path / "x.safetensors")
    (tmp_path / "validation.json").write_text('{"rows": []}')
    with pytest.raises(BadInput, match="sampled"):
        freeze.freeze(tmp_path, tmp_path / "x.safetensors")
    assert not (tmp_path / "x.safetensors").exists()


def test_info_prints_the_published_run(capsys):
    execute(["teacher", "info", "--folder", str(MAIN), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["updates"] == 77_886
    assert list(result["validation"]["sampled"]) == ["all", "0", "5", "10", "15", "20"]
