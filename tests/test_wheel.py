"""A stranger's first minutes: the wheel, made from the source distribution, works in an empty environment."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from blindsave.stages.scales import SMOKE
from blindsave.study import METHOD

REPOSITORY = Path(__file__).parents[1]
LARGEST_WHEEL = 20_000_000
LEFT = ("*.so", "*.egg-info", "__pycache__")
FIRST_COMMANDS = (
    "evaluate teacher --split validation --blackouts 20",
    "export structured_k0/14303 --format c --out firmware",
    "verify --replay 20",
    "report",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Source distribution, then wheel, as `make wheel` builds them, but without asking the network for tools.

    From a copy: a build writes into the folder it builds, and other tests are at work in the checkout.
    """
    pytest.importorskip("build")
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("dist")
    for path in REPOSITORY.iterdir():
        if path.is_file():
            shutil.copy(path, copy)
    for name, left in (("src", LEFT), ("models", ("teachers",)), ("results", ("teachers", "report", "training"))):
        shutil.copytree(REPOSITORY / name, copy / name, ignore=shutil.ignore_patterns(*left))
    order = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(order, capture_output=True, text=True, env=os.environ | {"BLINDSAVE_REQUIRE_NATIVE": "1"})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert len(list(out.glob("*.tar.gz"))) == 1
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def stranger(wheel, tmp_path_factory):
    """Run a command of a fresh environment in an empty folder; libraries are borrowed from the running environment."""
    home, work = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("elsewhere")
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH" and not k.startswith("BLINDSAVE_")}
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    order = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(order, check=True, capture_output=True, env=clean)
    place = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    # A path file is read for its lines alone: editable installs in the borrowed folders stay behind.
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (place / "borrowed.pth").write_text("\n".join(sorted(libraries)))

    def run(*words: str) -> str:
        done = subprocess.run(
            [home / "bin" / words[0], *words[1:]], capture_output=True, text=True, cwd=work, env=clean
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout

    return run


def test_it_is_small_serves_every_python_from_311_on_and_holds_no_picture(wheel):
    assert wheel.stat().st_size <= LARGEST_WHEEL
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert sum(name.endswith(".abi3.so") for name in names) == 3
    assert {"blindsave/protocol.toml", "blindsave/models/teacher/teacher.safetensors"} <= set(names)
    assert not [name for name in names if name.endswith((".png", ".mp4")) or "/models/teachers/" in name]


def test_it_is_the_installed_package_that_runs(stranger):
    code = "import blindsave; from blindsave.verify.places import brought; print(blindsave.__file__, brought())"
    file, root = stranger("python", "-c", code).split()
    assert str(Path(file).parent) == root and not Path(root).is_relative_to(REPOSITORY)


def test_the_examples_of_the_readme_run(stranger):
    blocks = re.findall(r"```python\n(.*?)```", (REPOSITORY / "README.md").read_text("utf-8"), re.DOTALL)
    assert blocks
    for code in blocks:
        stranger("python", "-c", code)


def test_the_first_commands_run_one_after_another(stranger):
    for command in FIRST_COMMANDS:
        said = stranger("blindsave", *command.split())
    assert "the report: report/report.html" in said


def test_a_smoke_study_runs_from_shots_to_report(stranger):
    result = json.loads(stranger("blindsave", "study", "--scale", "smoke", "--json"))
    assert [(one["stage"], one["what"]) for one in result["stages"]] == [(stage.name, "ran") for stage in METHOD]
    assert stranger("python", "-c", f"print(open({result['report']!r}).read()[:2])") == "<!\n"
    saved = {name: cells["20"]["saves"] for name, cells in result["save_rates"]["sealed_test"].items()}
    assert saved.keys() == {*SMOKE.families, "teacher"}
    assert saved["structured_k0"] - saved["feed_forward"] > 22  # of 225 shots; a tenth
    told = json.loads(stranger("blindsave", "status", "runs/study/smoke", "--json"))
    assert {one["state"] for one in told["stages"]} == {"done"}
