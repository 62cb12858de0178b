import json

import numpy as np
import pytest

from blindsave.diagnostics import probe
from blindsave.diagnostics.probe import Probe, features, find_probe, load_probe, probe_file
from blindsave.errors import BadFile
from blindsave.policies import catalog, files
from blindsave.policies.students.student import Provenance, Student
from blindsave.store import sha256_file


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))
    return tmp_path


def planted(width: int = 3) -> Probe:
    rng = np.random.default_rng(1)
    weight, bias = rng.normal(size=(2, width)).astype(np.float32), np.array([10.0, -20.0], np.float32)
    return Probe(weight, bias, "structured_k0/14303", "ab" * 32, {"mean_mm": 1.5})


def test_a_probe_is_linear():
    found, x = planted(), np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
    expected = x.astype(float) @ found.weight.astype(float).T + found.bias
    np.testing.assert_allclose(found.position_mm(x), expected)


def test_what_is_saved_is_read_back(tmp_path):
    planted().save(tmp_path / "p.safetensors")
    again = load_probe(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(again.weight, planted().weight)
    assert (again.policy, again.policy_sha256, again.figures) == ("structured_k0/14303", "ab" * 32, {"mean_mm": 1.5})


def test_a_policy_without_memory_is_read_through_its_observation():
    carry, empty, obs = np.ones((2, 5), np.float32), np.zeros((2, 0), np.float32), np.zeros((2, 19), np.float32)
    assert features(carry, obs) is carry and features(empty, obs) is obs


@pytest.mark.parametrize(
    "tensors, metadata, word",
    [
        ({"weight": np.zeros((2, 3)), "bias": np.zeros(2)}, {"format": "blindsave.student"}, "blindsave.probe"),
        ({"weight": np.zeros((3, 3)), "bias": np.zeros(2)}, {}, "weight"),
        ({"weight": np.zeros((2, 3)), "bias": np.zeros(3)}, {}, "bias"),
        ({"bias": np.zeros(2)}, {}, "weight"),
        ({"weight": np.zeros((2, 3)), "bias": np.zeros(2)}, {"figures": 3}, "figures"),
    ],
)
def test_damaged_probes_are_refused_by_name(tmp_path, tensors, metadata, word):
    whole = {"format": probe.FORMAT, "policy": "x", "policy_sha256": "", "figures": {}, **metadata}
    files.write_policy(tmp_path / "p.safetensors", tensors, whole)
    with pytest.raises(BadFile, match=word):
        load_probe(tmp_path / "p.safetensors")


def test_the_probe_of_a_policy_is_found_only_for_the_very_file(models):
    name = "structured_k0/14303"
    student = Student.untrained("structured_k0", 14303)
    path = catalog.student_file("structured_k0", 14303)
    student.save(path)
    assert find_probe(catalog.resolve(name)) is None
    width = student.initial(1).shape[1]
    Probe(np.zeros((2, width), np.float32), np.zeros(2, np.float32), name, sha256_file(path)).save(probe_file(name))
    assert find_probe(catalog.resolve(name)) is not None
    other = Student.untrained("structured_k0", 14304)
    Student(other.family, other.parameters, Provenance(14303)).save(path)
    assert find_probe(catalog.resolve(name)) is None


def test_the_shipped_probes_belong_to_the_shipped_policies():
    folder = catalog.models_folder() / "probes"
    found = sorted(folder.rglob("*.safetensors"))
    assert found, "the repository ships probes"
    for path in found:
        name = path.relative_to(folder).with_suffix("").as_posix()
        shipped = load_probe(path)
        assert shipped.policy == name
        assert shipped.policy_sha256 == catalog.resolve(name).sha256
        json.dumps(shipped.figures, allow_nan=False)


def test_the_teacher_remembers_and_the_memoryless_control_does_not():
    folder = catalog.models_folder() / "probes"
    teacher, control = (load_probe(folder / f"{name}.safetensors").figures for name in ("teacher", "ppo/14303"))
    assert teacher is not None and control is not None
    assert teacher["lateral_mm"] < 10 < 40 < control["lateral_mm"]
    for row, other in zip(control["by_time"], control["clock"]["by_time"], strict=True):
        assert row["mean_mm"] == pytest.approx(other["mean_mm"], rel=0.1), "without memory nothing beats the clock"
