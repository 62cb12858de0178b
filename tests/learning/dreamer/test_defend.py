"""The agent on the defence task: the training stream, validation in lanes, open-loop beliefs, packs, the thin entry."""

import json

import numpy as np
import pytest
from dreamer_cases import random_params

from blindsave import store
from blindsave.bench import teacher as bench
from blindsave.diagnostics import openloop
from blindsave.errors import BadFile, BadInput
from blindsave.learning.dreamer import agent, checkpoint, pack, run, tensorfile, validate
from blindsave.learning.dreamer.__main__ import main as thin_entry
from blindsave.learning.dreamer.config import Config, Sizes
from blindsave.learning.dreamer.defend_stream import DefendStream, group_of
from blindsave.task.episode import grid
from blindsave.task.shots import shots

SIZES = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)
CONFIG = Config(SIZES)


def play(stream, steps, seed=0):
    """Return what a stream shows under random, partly unclipped actions."""
    rng = np.random.default_rng(seed)
    return [stream.step(rng.normal(size=(stream.n, 2)).astype(np.float32) * 1.5) for _ in range(steps)]


def test_an_episode_of_k_actions_is_k_plus_one_transitions():
    stream = DefendStream(3)
    seen = [stream.reset(), *play(stream, 150)]
    first, last = np.stack([s.first for s in seen]), np.stack([s.last for s in seen])
    terminal, reward = np.stack([s.terminal for s in seen]), np.stack([s.reward for s in seen])
    assert first[0].all()
    np.testing.assert_array_equal(first[1:], last[:-1])  # the step after an end is a reset, and nothing else is
    assert (last | ~terminal).all()
    assert (reward[first] == 0).all()
    assert last.sum() >= 3
    assert set(np.round(np.unique(reward), 3)) <= {np.float32(x).round(3) for x in (-1, -0.8, 0, 0.2, 1, 1.2)}
    obs = np.stack([s.observation for s in seen])
    assert obs.dtype == np.float32
    assert (obs[first][:, 18] == 1).all()


def test_finished_episodes_are_reported_once_with_their_blackout_group():
    stream = DefendStream(4)
    stream.reset()
    ends, reports = 0, []
    for seen in (stream.step(np.zeros((4, 2), np.float32)) for _ in range(120)):
        ends += int(seen.last.sum())
        reports += stream.finished()
    assert ends == len(reports) > 0
    assert {r.group for r in reports} <= {"0", "1-5", "6-10", "11-15", "16-20"}
    assert {v for r in reports for v in r.figures.values()} <= {0.0, 1.0}
    assert [group_of(x) for x in (0, 1, 5, 6, 20)] == ["0", "1-5", "1-5", "6-10", "16-20"]


def test_draws_are_shot_then_length_from_one_generator_in_order_of_environment():
    stream = DefendStream(2)
    seen = [stream.reset(), *play(stream, 40)]
    rng = np.random.default_rng(5303)
    train = shots("train")
    expected = [(train[int(rng.integers(0, 900))], int(rng.integers(0, 21))) for _ in range(2)]
    hidden = np.stack([s.observation[:, 18] == 0 for s in seen])
    for place, (shot, length) in enumerate(expected):
        end = next((t for t, s in enumerate(seen) if s.last[place]), len(seen))
        assert hidden[: end + 1, place].sum() == min(length, end + 1 - 5)
        alone = DefendStream(1)
        alone._next_episode = lambda _, shot=shot, length=length: grid([shot], [length])[0]
        np.testing.assert_array_equal(alone.reset().observation[0], seen[0].observation[place])


def test_a_saved_stream_continues_exactly():
    stream = DefendStream(3)
    stream.reset()
    play(stream, 30)
    state = {name: np.array(value) for name, value in stream.save().items()}
    expected = play(stream, 60, seed=1)
    other = DefendStream(3, seed=1)
    other.reset()
    other.restore(state)
    for a, b in zip(play(other, 60, seed=1), expected, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run's folder with three checkpoints of random agents."""
    root = tmp_path_factory.mktemp("run")
    for step in (0, 20, 40):
        checkpoint.Folder(root).save_params(step, random_params(SIZES, step), CONFIG)
    return root


def test_validation_gives_a_row_per_checkpoint_and_mode_and_repeats_exactly(folder):
    rows = validate.validate(folder, lengths=(0, 20), shot_count=4)
    assert [(r["step"], r["mode"]) for r in rows] == [(s, m) for s in (0, 20, 40) for m in ("deterministic", "sampled")]
    for row in rows:
        assert row["episodes"] == 8
        assert sum(row["outcomes"].values()) == 8
        assert row["save_rate"] == row["saves"] / 8
        assert np.mean(list(row["save_rate_by_length"].values())) == pytest.approx(row["save_rate"])
        assert row["faults"] == 0
    assert validate.validate(folder, lengths=(0, 20), shot_count=4, steps=[20], known=rows) == rows
    again = validate.validate(folder, lengths=(0, 20), shot_count=4, steps=[20])
    assert again == [r for r in rows if r["step"] == 20]


def test_lanes_do_not_influence_each_other(folder):
    params, config = checkpoint.Folder(folder).load_params(20)
    episodes = grid(shots("validation")[:3], (0, 10))
    together = validate.Evaluator(config, episodes).run(params)
    for i, episode in enumerate(episodes):
        alone = validate.Evaluator(config, [episode]).run(params)
        assert alone.outcome[0] == together.outcome[i]
        assert alone.steps[0] == together.steps[i]


def test_selection_prefers_save_rate_then_score_then_the_earlier_step():
    def row(step, rate, score, mode="sampled"):
        return {"step": step, "save_rate": rate, "score": score, "mode": mode}

    table = [
        row(0, 0.5, 0.9),
        row(20, 0.9, 0.7),
        row(40, 0.9, 0.8),
        row(60, 0.9, 0.8),
        row(80, 1.0, 1.0, "deterministic"),
    ]
    assert validate.select(table)["step"] == 40
    with pytest.raises(BadInput, match="no rows of mode"):
        validate.select(table[:4], "deterministic")


def test_packs_stay_under_the_limit_and_give_the_same_actions_back(folder, tmp_path):
    one = sum(v.nbytes for v in _acting(folder, 0).values()) / 2**20
    paths = pack.pack(folder, tmp_path / "out", limit_mib=2.5 * one)
    assert [p.name for p in paths] == ["pack-00.safetensors", "pack-01.safetensors"]
    assert pack.unpack(paths, tmp_path / "back") == [0, 20, 40]
    for step in (0, 20, 40):
        for name, value in _acting(tmp_path / "back", step).items():
            np.testing.assert_array_equal(value, _acting(folder, step)[name])


def test_collecting_a_run_brings_winners_tables_and_the_best_checkpoints(folder, tmp_path):
    rows = [
        {"step": step, "mode": "sampled", "save_rate": rate, "score": 0.0}
        for step, rate in ((0, 0.1), (20, 0.9), (40, 0.5))
    ]
    store.write_json(folder / "validation.json", {"rows": rows, "winner": {"sampled": 20, "deterministic": 0}})
    for name in ("config.json", "metrics.jsonl"):
        store.write_whole(folder / name, "{}")
    paths = pack.collect(folder, tmp_path, top=1)
    assert {path.parent for path in paths} == {tmp_path}
    assert {path.name for path in paths} == {
        "config.json",
        "metrics.jsonl",
        "validation.json",
        "winner-000000000.safetensors",
        "winner-000000020.safetensors",
        "pack-00.safetensors",
    }
    assert pack.unpack([tmp_path / "pack-00.safetensors"], tmp_path / "back") == [0, 20]


def test_a_file_of_something_else_is_not_taken_for_parameters(tmp_path):
    tensorfile.write(tmp_path / "other.safetensors", {"a": np.zeros(1)}, {"step": 1})
    with pytest.raises(BadFile, match="not a parameter file"):
        checkpoint.load_params(tmp_path / "other.safetensors")
    with pytest.raises(BadFile, match="cannot be read"):
        checkpoint.load_params(tmp_path / "nothing.safetensors")


def _acting(folder, step):
    return agent.acting_parameters(checkpoint.Folder(folder).load_params(step)[0])


def test_open_loop_beliefs_have_the_shape_of_the_hidden_flight():
    episodes = grid(shots("validation")[:2], (20,))
    predictions = openloop.predict(random_params(SIZES, 1), CONFIG, episodes, futures=16, steps=8)
    assert len(predictions) == 2
    for p in predictions:
        assert p.truth.shape == p.mean.shape == p.std.shape == (8, 2)
        assert ((p.share >= 0) & (p.share <= 1)).all()
        assert np.isfinite(p.error_mm[p.share > 0]).all()
        assert (np.diff(p.truth[:, 0]) < 0).all()  # the puck comes towards the robot


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


def test_the_bench_refuses_unknown_variants():
    with pytest.raises(BadInput, match="unknown variant 'fast'"):
        bench.bench(["fast"])
