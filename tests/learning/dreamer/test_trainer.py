"""The run: learning a memory task, stopping and resuming to the same bits, and every way of going wrong."""

import dataclasses
import errno

import jax
import numpy as np
import pytest
from dreamer_cases import Recall

from blindsave import store, tensors
from blindsave.errors import BadFile, BadInput, BlindsaveError
from blindsave.learning.dreamer import metrics, refresh, replay, trainer
from blindsave.learning.dreamer.config import Config, Learning, Replay, Sizes, Training

SIZES = Sizes(2, 1, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)

pytestmark = pytest.mark.usefixtures("quick_compilation")


TINY = Config(
    SIZES,
    Learning(batch=4, length=6, imagination=3, learning_rate=1e-3, warmup=5, horizon=20),
    training=Training(steps=160, envs=4, train_ratio=12, log_every=40, checkpoint_every=80, seed=1, latents="always"),
)


def start(folder, config=TINY, seed=0):
    return trainer.Trainer(config, Recall(config.training.envs, seed=seed), folder, quiet=True)


def everything(run):
    """All numbers a run consists of."""
    leaves = [*jax.tree.leaves(run.learner), *run.buffer, *run.carry, *run.seen]
    return [np.asarray(leaf) for leaf in leaves] + [np.array([run.step, run.updates, run.ratio.done])]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    run = start(tmp_path_factory.mktemp("run"))
    result = run.run()
    assert result.finished
    return run


def test_a_run_reaches_its_end_with_the_due_updates_and_keeps_what_it_should(uninterrupted):
    run = uninterrupted
    assert run.step == 160
    # 24 windows exist from the 12th time step on; from there one update per two environment steps.
    assert run.updates == 1 + (160 - 48) * 12 // 24
    assert run.folder.steps("params") == [0, 80, 160]
    assert run.folder.steps("state") == [80, 160]
    lines = metrics.read(run.folder.root / "metrics.jsonl")
    assert [line["step"] for line in lines] == [40, 80, 120, 160]
    assert {"loss", "kl", "return", "saved", "updates_per_s", "gradient_norm"} <= lines[-1].keys()


@pytest.mark.parametrize("stop", [100, 84], ids=["between checkpoints", "just after one"])
def test_a_stopped_run_continues_to_the_same_bits(uninterrupted, tmp_path, stop):
    result = start(tmp_path).run(stop_at_step=stop)
    assert not result.finished
    assert result.step == stop
    resumed = start(tmp_path, seed=99)  # the environment's own state comes from the checkpoint
    assert resumed.step == stop
    resumed.run()
    for ours, theirs in zip(everything(resumed), everything(uninterrupted), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    stable = lambda run: [  # noqa: E731
        {k: v for k, v in line.items() if not k.endswith("_s") and k not in ("return", "length", "saved")}
        for line in metrics.read(run.folder.root / "metrics.jsonl")
        if line["step"] % 40 == 0 and line["step"] > 120
    ]
    assert stable(resumed) == stable(uninterrupted)


def test_a_killed_run_continues_from_its_last_checkpoint_to_the_same_bits(uninterrupted, tmp_path, monkeypatch):
    run = start(tmp_path)
    turns = iter(range(30))
    turn = run._turn

    def dies(pool):
        if next(turns) == 29:
            raise KeyboardInterrupt
        turn(pool)

    monkeypatch.setattr(run, "_turn", dies)
    with pytest.raises(KeyboardInterrupt):
        run.run()
    resumed = start(tmp_path)
    assert resumed.step == 80
    resumed.run()
    for ours, theirs in zip(everything(resumed), everything(uninterrupted), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_without_stored_latents_they_are_rebuilt_from_the_streams(uninterrupted, tmp_path, monkeypatch):
    lean = dataclasses.replace(TINY, training=dataclasses.replace(TINY.training, latents="never"))
    start(tmp_path, lean).run(stop_at_step=100)
    assert not (tmp_path / "latents").exists()
    monkeypatch.setattr(refresh, "CHUNK", 8)
    run = start(tmp_path, lean)
    h, first = np.asarray(replay.from_bits(run.buffer.h), np.float32), np.asarray(run.buffer.first)
    assert np.abs(h[:, :25]).max(-1).min() > 0
    assert (h[:, 25:] == 0).all()
    # Equal observations at a reset give equal states: nothing of the past episode is left in them.
    cue = np.asarray(run.buffer.observation)[..., 0]
    at_reset = h[:, :25][first[:, :25] & (cue[:, :25] > 0)]
    assert len(at_reset) > 5
    np.testing.assert_allclose(at_reset, at_reset[:1].repeat(len(at_reset), 0), atol=1e-6)
    assert run.run().finished


def test_a_replay_smaller_than_the_run_wraps_and_resumes(tmp_path):
    small = dataclasses.replace(TINY, replay=Replay(capacity=60, sampler="mixture"))
    whole = start(tmp_path / "whole", small)
    whole.run()
    start(tmp_path / "parts", small).run(stop_at_step=120)
    parts = start(tmp_path / "parts", small)
    parts.run()
    assert whole.buffer.reward.shape[1] < 40
    for ours, theirs in zip(everything(parts), everything(whole), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_loss_that_is_not_finite_stops_the_run_and_spares_the_checkpoint(tmp_path):
    run = start(tmp_path)
    run.run(stop_at_step=80)
    good = run.folder.path("state", 80).read_bytes()
    broken = start(tmp_path)
    poisoned = broken.learner.params["reward"]["out"]
    poisoned["bias"] = poisoned["bias"].at[0].set(np.nan)
    with pytest.raises(
        BlindsaveError, match=r"not finite at step \d+; training stopped, the last good checkpoint is step 80"
    ):
        broken.run()
    assert run.folder.steps("state") == [0, 80]
    assert run.folder.path("state", 80).read_bytes() == good


def test_a_full_disk_names_the_file_and_spares_the_checkpoint(tmp_path, monkeypatch):
    run = start(tmp_path)
    run.run(stop_at_step=80)

    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(tensors, "write_whole", full)
    with pytest.raises(
        BlindsaveError, match=r"could not be written .No space left on device.; earlier checkpoints are intact"
    ):
        start(tmp_path).run()
    monkeypatch.setattr(tensors, "write_whole", store.write_whole)
    assert start(tmp_path).step == 80


@pytest.mark.parametrize("damage", ["truncated", "one bit"])
def test_a_damaged_state_is_refused_and_deleting_it_falls_back(uninterrupted, tmp_path, damage):
    run = start(tmp_path)
    run.run(stop_at_step=100)
    path = run.folder.path("state", 100)
    data = bytearray(path.read_bytes())
    if damage == "truncated":
        data = data[: len(data) // 2]
    else:
        data[-10] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadFile, match=r"000000100.safetensors is damaged.*delete it to continue from step 80"):
        start(tmp_path)
    path.unlink()
    assert start(tmp_path).step == 80


def test_a_damaged_segment_of_the_replay_is_named(tmp_path):
    start(tmp_path).run(stop_at_step=80)
    segment = next((tmp_path / "replay").iterdir())
    data = bytearray(segment.read_bytes())
    data[-3] ^= 4
    segment.write_bytes(data)
    with pytest.raises(BadFile, match=f"{segment.name} is damaged"):
        start(tmp_path)


def test_another_configuration_or_environment_is_refused(tmp_path):
    start(tmp_path).run(stop_at_step=40)
    other = dataclasses.replace(TINY, learning=dataclasses.replace(TINY.learning, lam=0.9))
    with pytest.raises(BadInput, match=r"holds a run with learning.lam = 0.95, not 0.9"):
        start(tmp_path, other)
    with pytest.raises(BadInput, match="the environment has"):
        trainer.Trainer(TINY, Recall(3), tmp_path)
