"""What this machine has to offer."""

import os

import pytest

from blindsave.engine.machine import cores, gpus


def test_gpus_are_found_without_jax(tmp_path):
    for name in ("nvidia10", "nvidia2", "nvidiactl", "nvidia-uvm"):
        (tmp_path / name).touch()
    assert gpus({}, tmp_path) == ["2", "10"]
    assert gpus({"CUDA_VISIBLE_DEVICES": "3,1"}, tmp_path) == ["3", "1"]
    assert gpus({"CUDA_VISIBLE_DEVICES": ""}, tmp_path) == gpus({"JAX_PLATFORMS": "cpu"}, tmp_path) == []


def test_cores_are_those_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


@pytest.mark.parametrize(("named", "found"), [("0,,1", ["0", "1"]), ("GPU-ab", ["GPU-ab"])])
def test_devices_named_in_the_environment_are_taken_as_they_are(tmp_path, named, found):
    assert gpus({"CUDA_VISIBLE_DEVICES": named}, tmp_path) == found


def test_a_machine_without_devices_has_no_gpu(tmp_path):
    assert gpus({"JAX_PLATFORMS": "cuda"}, tmp_path) == gpus({}, tmp_path / "nowhere") == []
