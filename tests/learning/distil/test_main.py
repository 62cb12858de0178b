"""The command for bare machines: teachers with seeds of their own in one call, without what is not installed there."""

import os
import subprocess
import sys

import numpy as np
import pytest

from blindsave.learning.distil import __main__ as command
from blindsave.learning.distil.__main__ import REFUSED, UNFINISHED, main
from blindsave.learning.distil.deadline import OutOfTime
from blindsave.learning.distil.packing import unpack
from blindsave.learning.distil.schedule import TRAINING_SEEDS
from blindsave.policies.dreamer import AgentShape, save_teacher
from blindsave.store import write_whole

MISSING = ("pyarrow", "rich", "tyro")


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    path, shape, rng = tmp_path_factory.mktemp("teacher") / "t.safetensors", AgentShape(), np.random.default_rng(0)
    params = {name: (0.05 * rng.normal(size=size)).astype(np.float32) for name, size in shape.shapes.items()}
    save_teacher(path, params, shape=shape, seed=0, step=0, notes={})
    return path


@pytest.fixture
def asked(monkeypatch):
    """The workshops that a fleet is asked to distil, without any work."""
    found = []
    monkeypatch.setattr(command, "distil_fleet", lambda shops, families, workers: found.extend(shops) or {})
    return found


def test_two_teachers_with_different_seeds_on_a_machine_without_pyarrow_rich_and_tyro(teacher, tmp_path):
    for name in MISSING:
        error = f"raise ModuleNotFoundError(\"No module named '{name}'\", name='{name}')\n"
        write_whole(tmp_path / "missing" / name / "__init__.py", error)
    path = os.pathsep.join([str(tmp_path / "missing"), *filter(None, [os.environ.get("PYTHONPATH")])])
    tiny = ["--seeds", "14303", "--families", "feed_forward", "--epochs", "2"]
    tiny += ["--base-episodes", "20", "--shadow-episodes", "20"]
    teachers = [f"one={teacher}", f"many={teacher}:2"]
    work, out = tmp_path / "work", tmp_path / "out"
    ended = subprocess.run(
        [sys.executable, "-m", command.__spec__.name, work, "--teachers", *teachers, *tiny, "--pack", out],
        env=os.environ | {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert sorted(path.name for path in out.iterdir()) == ["many.tar", "one.tar"]
    for name, seeds in {"one": [14303], "many": [14303, 14304]}.items():
        arrived = {path.relative_to(tmp_path / name) for path in unpack(out / f"{name}.tar", tmp_path / name)}
        students = sorted(int(path.stem) for path in arrived if path.parts[0] == "students" and path.stem.isdigit())
        assert students == sorted(2 * seeds)
        assert [path.name for path in arrived if path.parts[0] == "summary"] == ["feed_forward.json"]


def test_a_teacher_may_have_more_seeds_than_the_others(asked, tmp_path):
    assert main([str(tmp_path), "--teachers", "a=a.safetensors:20", "b=b.safetensors", "c=x:y.safetensors"]) == 0
    assert [shop.work for shop in asked] == [tmp_path / name for name in "abc"]
    assert [str(shop.teacher) for shop in asked] == ["a.safetensors", "b.safetensors", "x:y.safetensors"]
    assert asked[0].budget.seeds == tuple(range(14303, 14323))
    assert asked[1].budget.seeds == asked[2].budget.seeds == TRAINING_SEEDS
    assert {shop.budget.shadow_episodes for shop in asked} == {20_000}


@pytest.mark.parametrize("teacher", ["teacher.safetensors", "=a.safetensors", "a=", "a=:20"])
def test_a_teacher_without_a_name_or_file_is_refused(tmp_path, capsys, teacher):
    with pytest.raises(SystemExit) as end:
        main([str(tmp_path), "--teachers", teacher])
    assert end.value.code == 2 and "is not NAME=FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    "given, complaint",
    [
        (["--teachers", "a=a.safetensors", "a=b.safetensors:20"], "a name of its own"),
        (["--teachers", "a=a.safetensors:3"], "20000 shadow episodes cannot be shared equally by 3 collectors"),
        (["--teachers", "a=a.safetensors:0"], "at least one training seed"),
        (["--seeds", "1", "1"], "none twice"),
    ],
)
def test_what_cannot_be_done_is_refused_before_any_work(asked, tmp_path, capsys, given, complaint):
    assert main([str(tmp_path / "work"), *given]) == REFUSED
    assert complaint in capsys.readouterr().err and not asked and not (tmp_path / "work").exists()


def test_what_is_there_is_packed_when_time_is_up(tmp_path, monkeypatch, capsys):
    def late(shops, families, workers):
        write_whole(shops[1].work / "checkpoints" / "x.safetensors", "half")
        raise OutOfTime("time is up; run the same command again")

    monkeypatch.setattr(command, "distil_fleet", late)
    given = [
        str(tmp_path / "work"),
        "--teachers",
        "a=a.safetensors",
        "b=b.safetensors",
        "--pack",
        str(tmp_path / "out"),
    ]
    assert main(given) == UNFINISHED
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.tar"]
    said = capsys.readouterr().err
    assert "run the same command again" in said and "a holds no students yet" in said
