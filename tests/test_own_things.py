"""A stranger's file with a fault, a core and a teacher goes the whole way: training, test, report, verification."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from blindsave.engine import Workers
from blindsave.errors import BadInput
from blindsave.policies.students import registry
from blindsave.policies.students.gru import GRU
from blindsave.stages.scales import SMOKE, Scale
from blindsave.stages.site import Site
from blindsave.study import run

THINGS = '''
from blindsave.policies.catalog import register_name
from blindsave.policies.scripted import PRIVILEGED
from blindsave.policies.students.gru import GRU
from blindsave.policies.students.registry import register
from blindsave.task.conditions import fault
from blindsave.task.draft import Draft

@fault
def flicker(draft: Draft, every: int) -> None:
    """Every n-th frame is lost."""
    draft.hide(slice(0, None, every))

register("small_gru", GRU(width=4))
register_name("knows_all", lambda: PRIVILEGED)
'''
STUDY = """
scale = "smoke"
plugins = ["things.py"]
families = ["feed_forward", "small_gru"]
base_episodes = 20
shadow_episodes = 20
epochs = 2
batch = 8
memory_shots = 5
test_blackouts = [20]
latency_calls = 10
latency_blocks = 1
training_conditions = { clean = 1, flicker_3 = 3 }
sealed_times = 2
[teachers]
mine = "knows_all"
[guests]
kalman = "kalman"
trained_k0 = "structured_k0/14303"
[contrasts]
primary = [["small_gru", "kalman"], ["small_gru", "feed_forward"]]
noise = [["small_gru", "trained_k0"]]
[disturbances]
conditions = ["clean", "flicker_2", "flicker_3"]
blackouts = [20]
policies = "all"
"""


def blindsave(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "BLINDSAVE_PLUGINS"}
    command = [sys.executable, "-m", "blindsave", *words]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("stranger")
    (root / "things.py").write_text(THINGS)
    (root / "own.toml").write_text(STUDY)
    return root


@pytest.fixture(scope="module")
def folder(place) -> Path:
    done = blindsave("study", "own.toml", "--folder", "run", "--workers", "2", cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "run" / "mine"


def test_students_learned_under_the_fault(folder):
    manifest = json.loads((folder / "results/datasets/base/manifest.json").read_text())
    said = manifest["configuration"]["schedule"]["conditions"]
    assert {name: one["share"] for name, one in said.items()} == {"clean": 0.25, "flicker_3": 0.75}
    assert said["flicker_3"]["faults"][0]["source_sha256"]
    assert manifest["configuration"]["labels"] == "own"


def test_a_privileged_teacher_labels_what_students_do(folder):
    manifest = json.loads((folder / "results/datasets/small_gru-14303/manifest.json").read_text())
    assert manifest["configuration"]["labels"] == "shadow of privileged"


def test_the_fault_is_in_the_table_and_on_the_page(folder):
    table = pq.read_table(folder / "results/noise/noise_test.parquet")
    assert set(table["disturbance"].to_pylist()) == {"clean", "flicker_2", "flicker_3"}
    assert set(table["policy"].to_pylist()) == {"feed_forward", "small_gru", "teacher", "kalman", "trained_k0"}
    assert (folder / "results/report/figures/figure-faults.svg").is_file()
    page = (folder / "results/report/report.html").read_text()
    assert "flicker 3" in page and "When the tracker is wrong" in page


def test_guests_play_the_same_shots_under_their_own_names(folder):
    table = pq.read_table(folder / "results/test/sealed_test.parquet")
    rows = {name: table.filter(pc.equal(table["policy"], name)) for name in ("kalman", "trained_k0", "small_gru")}
    assert {name: part.num_rows for name, part in rows.items()} == dict.fromkeys(rows, 450)  # twice the paper's shots
    assert set(rows["trained_k0"]["training_seed"].to_pylist()) == {14303}
    bound = json.loads((folder / "results/freeze.json").read_text())["body"]["policies"]
    assert bound["kalman/0"] == "models/guests/kalman/0.safetensors"
    assert "Kalman" in (folder / "results/report/report.html").read_text()


def test_the_plugin_is_bound_and_never_run_by_itself(folder, place):
    frozen = json.loads((folder / "results/freeze.json").read_text())["body"]["groups"]["plugins"]
    assert list(frozen) == ["plugins/things.py"]
    alone = blindsave("verify", str(folder), cwd=place)
    assert alone.returncode == 1 and "there is no condition `flicker_2`" in alone.stdout
    helped = blindsave("verify", str(folder), "--replay", "10", "--plugin", "run/mine/plugins/things.py", cwd=place)
    assert helped.returncode == 0, helped.stdout + helped.stderr


def test_a_changed_plugin_is_refused_once_the_test_is_open(folder, place):
    (place / "things.py").write_text(THINGS.replace("every)", "every + 1)"))
    again = blindsave("study", "own.toml", "--folder", "run", cwd=place)
    (place / "things.py").write_text(THINGS)
    assert again.returncode == 2 and "use another --folder" in again.stderr


def test_the_fault_works_in_evaluate(place):
    words = ("evaluate", "fixed_centre", "--blackouts", "20", "--conditions", "flicker_2", "--plugin", "things.py")
    found = blindsave(*words, "--json", cwd=place)
    assert list(json.loads(found.stdout)["policies"]["fixed_centre"]) == ["20+flicker_2"]
    unknown = blindsave(*words[:-2], cwd=place)
    assert unknown.returncode == 2 and "there is no condition `flicker_2`" in unknown.stderr


def test_a_core_that_only_this_process_knows_is_refused_before_workers_start(tmp_path, monkeypatch):
    class Own(GRU):
        pass

    monkeypatch.setattr(registry, "_families", dict(registry._families))
    registry.register("only_mine", Own(width=3))
    site = Site(tmp_path / "study", Scale(**vars(SMOKE) | {"name": "own", "families": ("only_mine",)}), quiet=True)
    with Workers(1) as engine, pytest.raises(BadInput, match="`only_mine` is registered in this process only"):
        next(run(site, engine))
    assert not (tmp_path / "study" / "work").exists()
