"""The exported actor: what it computes, that C and NumPy agree in every bit, and that bad files are refused."""

import subprocess
import sys

import numpy as np
import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.policies import catalog, files, mlp
from blindsave.policies.mlp import MLP

SIZES = (19, 256, 256, 2)


def layers(seed=0, sizes=SIZES, scale=1.0):
    rng = np.random.default_rng(seed)
    shapes = zip(sizes[1:], sizes, strict=False)
    return tuple(
        ((scale * rng.normal(0, inner**-0.5, (out, inner))).astype(np.float32), rng.normal(0, 0.1, out).astype("f4"))
        for out, inner in shapes
    )


def observations(n, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, (n, 19)).astype(np.float32)


def test_the_actor_of_the_study_has_its_published_size():
    assert MLP(layers()).parameters == 71_426


def test_it_computes_tanh_layers_and_a_clipped_mean():
    policy, obs = MLP(layers(scale=3.0)), observations(64)
    x = obs.astype(np.float64)
    for weight, bias in policy.layers[:-1]:
        x = np.tanh(x @ weight.T.astype(np.float64) + bias)
    weight, bias = policy.layers[-1]
    mean = x @ weight.T.astype(np.float64) + bias
    assert (np.abs(mean) > 1).any() and (np.abs(mean) < 1).any()
    _, action = policy.step(policy.initial(64), obs)
    np.testing.assert_allclose(action, np.clip(mean, -1, 1), atol=2e-5)


def test_it_keeps_nothing_between_steps():
    policy = MLP(layers())
    carry, _ = policy.step(policy.initial(3), observations(3))
    assert carry.shape == (3, 0)


def test_rows_never_influence_each_other_and_c_equals_numpy():
    policy, obs = MLP(layers()), observations(7)
    _, together = policy.step(policy.initial(7), obs)
    alone = np.concatenate([policy.step(policy.initial(1), obs[i : i + 1])[1] for i in range(7)])
    _, reference = policy.program.run(policy.initial(7), obs)
    assert together.tobytes() == alone.tobytes() == reference.tobytes()


def test_a_file_gives_the_same_policy_back(tmp_path):
    path = MLP(layers(), name="ppo/14303", metadata={"steps": 10}).write(tmp_path / "a.safetensors")
    again = catalog.load_file(path)
    assert (again.name, again.metadata) == ("ppo/14303", {"steps": 10})
    for (weight, bias), (weight2, bias2) in zip(layers(), again.layers, strict=True):
        assert weight.tobytes() == weight2.tobytes() and bias.tobytes() == bias2.tobytes()


def test_the_catalog_can_read_the_format(tmp_path, monkeypatch):
    monkeypatch.setitem(catalog.FORMATS, mlp.FORMAT, mlp.mlp_from)
    path = MLP(layers(), name="ppo/14303").write(tmp_path / "a.safetensors")
    assert isinstance(catalog.load_file(path), MLP)


def test_a_truncated_file_is_refused_by_name(tmp_path):
    path = MLP(layers()).write(tmp_path / "a.safetensors")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(BadFile, match=r"a\.safetensors"):
        catalog.load_file(path)


def write_changed(path, *, drop=(), add=(), **changes):
    arrays = {}
    for i, (weight, bias) in enumerate(layers()):
        arrays |= {f"layers.{i}.weight": weight, f"layers.{i}.bias": bias}
    arrays = {name: array for name, array in arrays.items() if name not in drop}
    arrays |= {name: np.zeros(2, np.float32) for name in add}
    facts = {"format": mlp.FORMAT, "name": "ppo/1", "layers": 3, "arithmetic": mlp.ARITHMETIC, **changes}
    files.write_policy(path, arrays, facts)
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"drop": ["layers.1.bias"]}, "`layers.1.bias` is missing"),
        ({"add": ["extra"]}, "`extra` does not belong"),
        ({"arithmetic": "other_v9"}, "made for the arithmetic other_v9"),
        ({"layers": "three"}, "`layers` cannot be"),
        ({"layers": 2}, r"`layers\.2\.bias` does not belong"),
        ({"drop": ["layers.2.weight", "layers.2.bias"], "layers": 2}, "last layer gives 256 floats"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(tmp_path, changes, said):
    with pytest.raises(BadFile, match=said):
        catalog.load_file(write_changed(tmp_path / "a.safetensors", **changes))


def test_layers_that_do_not_fit_are_named():
    good = layers()
    with pytest.raises(BadInput, match="layer 1 of shape"):
        MLP((good[0], good[0]))
    with pytest.raises(BadInput, match="layer 0 holds a value that is not finite"):
        MLP(((good[0][0] * np.float32("nan"), good[0][1]), *good[1:]))
    with pytest.raises(BadInput, match="at least one layer"):
        MLP(())


def test_running_it_needs_neither_torch_nor_jax():
    code = (
        "import sys, blindsave.policies.mlp; sys.exit(bool({'torch', 'jax', 'stable_baselines3'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
