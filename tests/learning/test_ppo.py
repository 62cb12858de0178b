"""PPO training: the study's settings reach the library, runs repeat bit for bit, a killed run continues exactly."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

pytest.importorskip("stable_baselines3")

import torch

from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning import ppo
from blindsave.policies import catalog

TINY = ppo.PPOConfig(
    seed=14304, steps=192, places=2, rollout_steps=32, batch=32, epochs=2, hidden=(8, 8), checkpoint_steps=64
)


def parameters(model):
    return {name: p.detach().numpy().copy() for name, p in model.policy.named_parameters()}


def same(a, b):
    return all(a[name].tobytes() == b[name].tobytes() for name in a | b)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ppo")
    rows = []
    return ppo.train(TINY, folder, rows.append), folder, rows


def test_the_settings_of_the_study_reach_the_library():
    config = ppo.PPOConfig()
    model = ppo.build(config)
    assert (config.steps, config.checkpoint_steps, model.seed) == (1_000_000, 100_000, 14303)
    assert (model.env.num_envs, model.n_steps, model.batch_size, model.n_epochs) == (8, 256, 1024, 10)
    assert (model.learning_rate, model.gamma, model.gae_lambda, model.clip_range(1)) == (3e-4, 0.99, 0.95, 0.2)
    assert (model.ent_coef, model.vf_coef, model.max_grad_norm, model.target_kl) == (0.01, 0.5, 0.5, None)
    assert sum(weight.size + bias.size for weight, bias in ppo.actor(model)) == 71_426
    critic = [*model.policy.mlp_extractor.value_net.parameters(), *model.policy.value_net.parameters()]
    assert sum(p.numel() for p in critic) == 71_169
    assert [type(layer) for layer in model.policy.mlp_extractor.policy_net][1::2] == [torch.nn.Tanh] * 2


def test_training_changes_the_policy_and_keeps_a_learning_curve(trained):
    model, folder, rows = trained
    assert not same(parameters(model), parameters(ppo.build(TINY)))
    assert [row["steps"] for row in rows] == [64, 128, 192]
    assert [json.loads(line) for line in (folder / ppo.METRICS).read_text().splitlines()] == rows
    assert sum(row["episodes"] for row in rows) == sum(n for row in rows for _, n in row["saves"].values())


def test_two_runs_are_equal_in_every_bit(trained, tmp_path):
    assert same(parameters(trained[0]), parameters(ppo.train(TINY, tmp_path)))


def test_a_killed_run_continues_bit_for_bit(trained, tmp_path):
    class KilledError(Exception):
        pass

    def kill(row):
        if row["steps"] == 128:  # before the checkpoint of this rollout: one rollout of work is lost
            raise KilledError

    with pytest.raises(KilledError):
        ppo.train(TINY, tmp_path, kill)
    rows = []
    model = ppo.train(TINY, tmp_path, rows.append)
    assert [row["steps"] for row in rows] == [128, 192]
    assert same(parameters(trained[0]), parameters(model))
    kept = [json.loads(line)["steps"] for line in (tmp_path / ppo.METRICS).read_text().splitlines()]
    assert kept == [64, 128, 192]


def test_a_finished_run_is_only_read(trained):
    rows = []
    model = ppo.train(TINY, trained[1], rows.append)
    assert rows == [] and same(parameters(trained[0]), parameters(model))


def test_a_longer_run_continues_a_shorter_one(trained, tmp_path):
    ppo.train(replace(TINY, steps=64), tmp_path)
    assert same(parameters(trained[0]), parameters(ppo.train(TINY, tmp_path)))


def test_a_loss_that_is_not_finite_stops_and_leaves_the_checkpoint(trained, tmp_path, monkeypatch):
    real = ppo._row

    def row(model, speed):
        if model.num_timesteps == 128:
            model.logger.name_to_value["train/loss"] = float("nan")
        return real(model, speed)

    monkeypatch.setattr(ppo, "_row", row)
    with pytest.raises(BlindsaveError, match="not finite after 128 steps"):
        ppo.train(TINY, tmp_path)
    monkeypatch.undo()
    assert same(parameters(trained[0]), parameters(ppo.train(TINY, tmp_path)))


def test_the_exported_actor_is_the_library_s_deterministic_policy(trained, tmp_path):
    model, _, _ = trained
    policy = catalog.load_file(ppo.policy_of(model, TINY).write(tmp_path / "a.safetensors"))
    obs = np.random.default_rng(0).uniform(-1, 1, (100, 19)).astype(np.float32)
    expected, _ = model.predict(obs, deterministic=True)
    np.testing.assert_allclose(policy.step(policy.initial(100), obs)[1], expected, atol=1e-6)
    assert policy.name == "ppo/14304"
    assert policy.metadata["configuration"]["rollout_steps"] == 32
    assert policy.metadata["steps"] == 192


def test_learning_curves_of_several_seeds_share_one_table(trained, tmp_path):
    path = ppo.write_curve(tmp_path / "curve.parquet", {14304: trained[1], 14305: trained[1]})
    table = pq.read_table(path).to_pylist()
    assert [(row["training_seed"], row["steps"]) for row in table] == [
        (seed, steps) for seed in (14304, 14305) for steps in (64, 128, 192)
    ]
    assert all(row["episodes"] == sum(row[f"episodes_{n}"] for n in (0, 5, 10, 15, 20)) for row in table)


def test_a_run_of_another_configuration_is_not_continued(trained):
    with pytest.raises(BadInput, match="another configuration"):
        ppo.train(replace(TINY, entropy=0.02), trained[1])
