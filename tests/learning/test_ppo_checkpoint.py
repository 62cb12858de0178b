"""PPO checkpoints carry everything, the unfinished episodes included, and refuse what does not fit."""

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

import torch

from blindsave.errors import BadFile, BadInput
from blindsave.learning import ppo, ppo_checkpoint

TINY = ppo.PPOConfig(seed=14304, steps=64, places=2, rollout_steps=32, batch=32, epochs=1, hidden=(8, 8))
WHO = {"run": 1}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ppo")
    model = ppo.train(TINY, folder)
    ppo_checkpoint.save(folder / "a.safetensors", model, WHO)
    return model, folder / "a.safetensors"


def test_a_restored_learner_is_in_the_middle_of_the_same_episodes(trained):
    model, path = trained
    torch_state, numpy_draw = torch.get_rng_state(), np.random.get_state()[1].copy()
    other = ppo.build(TINY)
    other.env.sample(0)
    torch.manual_seed(1)
    np.random.seed(1)
    ppo_checkpoint.restore(path, other, WHO)
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert (np.random.get_state()[1] == numpy_draw).all()
    assert (other.num_timesteps, other._n_updates) == (model.num_timesteps, model._n_updates) == (64, 1)
    assert other._last_obs.tobytes() == model._last_obs.tobytes()
    actions = np.full((2, 2), 0.3, np.float32)
    for _ in range(130):  # well into the next episodes
        ours, theirs = other.env.step(actions), model.env.step(actions)
        assert ours[0].tobytes() == theirs[0].tobytes() and (ours[2] == theirs[2]).all()


def test_the_optimiser_remembers(trained):
    model, path = trained
    other = ppo.build(TINY)
    ppo_checkpoint.restore(path, other, WHO)
    for ours, theirs in zip(other.policy.parameters(), model.policy.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        mine, its = other.policy.optimizer.state[ours], model.policy.optimizer.state[theirs]
        assert mine.keys() == its.keys() and all(torch.equal(mine[key], its[key]) for key in its)
        assert its["step"] == 2 and its["exp_avg_sq"].any()


def test_another_configuration_is_refused(trained):
    with pytest.raises(BadInput, match="another configuration"):
        ppo_checkpoint.restore(trained[1], ppo.build(TINY), {"run": 2})


def test_a_damaged_checkpoint_is_refused_by_name(trained, tmp_path):
    content = trained[1].read_bytes()
    (tmp_path / ppo.CHECKPOINT).write_bytes(content[: len(content) // 2])
    with pytest.raises(BadFile, match=r"checkpoint\.safetensors is damaged"):
        ppo.train(TINY, tmp_path)


def test_a_policy_file_is_not_a_checkpoint(trained, tmp_path):
    ppo.policy_of(trained[0], TINY).write(tmp_path / ppo.CHECKPOINT)
    with pytest.raises(BadFile, match="is not a PPO checkpoint"):
        ppo.train(TINY, tmp_path)


def test_episodes_of_another_arena_are_refused_unless_the_run_is_finished(trained, tmp_path):
    model, _ = trained
    other = ppo.build(TINY)
    path = tmp_path / "a.safetensors"
    snapshot = model.env.batch.snapshot
    model.env.batch.snapshot = lambda place: snapshot(place)[:-8]
    try:
        ppo_checkpoint.save(path, model, WHO)
    finally:
        del model.env.batch.snapshot
    with pytest.raises(BadFile, match="another version of the arena"):
        ppo_checkpoint.restore(path, other, WHO, until=65)
    ppo_checkpoint.restore(path, other, WHO, until=64)
    assert other.num_timesteps == 64
