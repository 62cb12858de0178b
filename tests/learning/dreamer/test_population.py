"""Teachers side by side in one program: each is what it would be alone, and has a folder like a run's."""

import dataclasses
import json
import subprocess
import sys

import jax
import numpy as np
import pytest

from blindsave.bench import teacher as bench
from blindsave.errors import BadInput
from blindsave.learning.dreamer import checkpoint, freeze, metrics, refresh, run, summary, trainer
from blindsave.learning.dreamer.config import Config, Learning, Sizes, Training
from blindsave.learning.dreamer.defend_stream import DefendStream

pytestmark = pytest.mark.usefixtures("quick_compilation")

SIZES = {"deter": 16, "hidden": 8, "categoricals": 4, "blocks": 2, "units": 16, "bins": 21}
PAIR = Config(
    Sizes(19, 2, **SIZES),
    Learning(batch=4, length=6, imagination=3, learning_rate=1e-3, warmup=5),
    training=Training(
        steps=160, envs=4, train_ratio=12, log_every=4, checkpoint_every=80, seed=3, latents="always", population=2
    ),
)


def start(folder, config=PAIR):
    n = config.training.population
    return trainer.Trainer(config, DefendStream(4 * n, population=n, threads=1), folder, quiet=True)


def everything(one):
    return [np.asarray(leaf) for leaf in (*jax.tree.leaves(one.learner), *one.buffer, *one.carry, *one.seen)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    made = start(tmp_path_factory.mktemp("pair"))
    assert made.run().finished
    return made


@pytest.mark.parametrize("index", [0, 1])
def test_each_teacher_learns_step_by_step_what_it_would_learn_alone(pair, tmp_path, index):
    alone = start(tmp_path, PAIR.member(index))
    assert alone.run().finished
    assert alone.members[0].config == pair.members[index].config
    together, single = (
        metrics.read(folder.root / "metrics.jsonl") for folder in (pair.members[index].folder, alone.folder)
    )
    assert [line["step"] for line in together] == list(range(4, 164, 4))
    for a, b in zip(together, single, strict=True):
        assert a.keys() == b.keys()
        for name in a:
            if not name.endswith("_s") and not isinstance(a[name], dict):
                assert a[name] == pytest.approx(b[name], rel=2e-3, abs=2e-4), (a["step"], name)
    np.testing.assert_allclose(pair.buffer.observation[index], alone.buffer.observation, atol=1e-3)
    np.testing.assert_array_equal(pair.buffer.first[index], alone.buffer.first)
    assert int(pair.buffer.clock) == int(alone.buffer.clock)


def test_teachers_differ_though_they_are_shown_the_same_first_shots(pair):
    one, other = (checkpoint.load_params(m.folder.path("params", 160))[0] for m in pair.members)
    assert not np.array_equal(one["actor"]["mean"]["kernel"], other["actor"]["mean"]["kernel"])
    np.testing.assert_array_equal(pair.buffer.observation[0, :, 0], pair.buffer.observation[1, :, 0])


def test_a_stopped_population_continues_to_the_same_bits(pair, tmp_path):
    assert start(tmp_path).run(stop_at_step=100).step == 100
    resumed = start(tmp_path)
    assert resumed.step == 100
    resumed.run()
    for ours, theirs in zip(everything(resumed), everything(pair), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_latents_of_a_population_are_rebuilt_where_they_were_not_stored(tmp_path, monkeypatch):
    lean = dataclasses.replace(PAIR, training=dataclasses.replace(PAIR.training, latents="never"))
    start(tmp_path, lean).run(stop_at_step=100)
    monkeypatch.setattr(refresh, "CHUNK", 8)
    resumed = start(tmp_path, lean)
    h = np.asarray(resumed.buffer.h)
    assert (h[:, :, :25] != 0).any(-1).all() and not h[:, :, 25:].any()


def test_another_population_is_refused(pair):
    more = dataclasses.replace(PAIR, training=dataclasses.replace(PAIR.training, population=3))
    with pytest.raises(BadInput, match=r"holds a run with training.population = 2, not 3"):
        start(pair.folder.root, more)
    with pytest.raises(BadInput, match="cannot be shared equally"):
        DefendStream(7, population=2)


def test_a_teachers_folder_is_that_of_a_run(tmp_path):
    how = {"steps": 320, "envs": 4, "threads": 1, "population": 2, "sizes": SIZES, "timeouts": "terminate"}
    made = run.train_teacher(tmp_path, **how)
    assert [folder[-4:] for folder in made["teachers"]] == ["7303", "7304"]
    member = tmp_path / "7304"
    assert json.loads((member / "config.json").read_text())["training"]["seed"] == 7304
    assert checkpoint.load_params(member / "params/000000320.safetensors")[1].training.timeouts == "terminate"
    few = {"lengths": (0, 5), "shot_count": 2, "modes": ("sampled",)}
    first = run.validate_teacher(member, steps=[0], **few)
    table = run.validate_teacher(member, **few)
    assert table["rows"][0] == first["rows"][0]
    assert [row["step"] for row in table["rows"]] == [0, 320]
    written = (member / "validation.json").stat().st_mtime_ns
    assert run.validate_teacher(member, **few) == table
    assert (member / "validation.json").stat().st_mtime_ns == written
    assert summary.summarise_run(member)["steps"] == 320
    assert freeze.freeze(member, tmp_path / "teacher.safetensors")["step"] == table["winner"]["sampled"]


def test_the_bench_counts_the_updates_of_all_teachers(monkeypatch):
    monkeypatch.setattr(bench, "Sizes", lambda o, a: Sizes(o, a, **SIZES))
    result = bench.bench(["best"], envs=4, stored=2000, per_call=1, rounds=1, population=2)
    assert result["population"] == 2 and result["updates_per_s"] > 0


def test_training_needs_neither_the_command_line_nor_gymnasium_nor_pyarrow(tmp_path):
    """The thin entry trains and validates on a machine with JAX, NumPy, safetensors and MuJoCo only."""
    script = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("gymnasium", "pyarrow", "tyro", "rich", "optax", "torch", "matplotlib", "pandas"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from pathlib import Path
from blindsave.learning.dreamer import pack, run
folder = Path({str(tmp_path)!r})
run.train_teacher(folder, steps=8, envs=4, population=2, sizes={SIZES!r}, threads=1, quiet=True)
run.validate_teacher(folder / "7304", modes=("sampled",), lengths=(0,), shot_count=1, steps=[0])
print(len(pack.collect(folder / "7304", folder / "out")))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "5"
