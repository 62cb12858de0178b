"""Tasks on a Ray cluster."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from blindsave.engine import open_engine
from blindsave.errors import BadInput

TESTS = Path(__file__).parents[1] / "support"


OWN_RAY = """
import sys
from pathlib import Path
import engine_tasks, tiny_study
from blindsave.engine import Task, open_engine
with open_engine("ray", 1) as engine:
    found = engine.run(tiny_study.site(Path(sys.argv[1])), [Task("sum", engine_tasks.add, {"a": 1, "b": 2})], print)
assert found[0].result["sum"] == 3
"""


def test_a_lost_node_of_a_ray_cluster_costs_only_its_task(site):
    command = [sys.executable, str(TESTS / "ray_cluster.py"), str(site.folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"names": ["a", "b"], "sum": 3, "faults": 1}


def test_without_an_address_ray_starts_its_own_whatever_else_runs_on_the_machine(site):
    """Nothing listens at that address: an engine that joined the cluster it finds would fail."""
    environment = os.environ | {"RAY_ADDRESS": "127.0.0.1:1"}
    command = [sys.executable, "-c", OWN_RAY, str(site.folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_an_address_without_a_cluster_is_named():
    with (
        pytest.raises(BadInput, match=r"there is no Ray cluster at 127\.0\.0\.1:1 "),
        open_engine("ray", address="127.0.0.1:1"),
    ):
        pass
