"""The worker's own side: JSON lines in, JSON lines out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import engine_tasks
import tiny_study

from blindsave.engine import Task
from blindsave.engine.task import describe_place


def talk(*requests: dict) -> list[dict]:
    """Let a worker answer some requests; then its input ends, and so does it."""
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "blindsave.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        answers = []
        for request in requests:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            while True:
                answers.append(json.loads(process.stdout.readline()))
                if "event" not in answers[-1]:
                    break
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    return answers


def test_a_worker_answers_task_after_task_and_ends_with_its_input(tmp_path):
    place = describe_place(tiny_study.site(tmp_path))
    good = Task("sum", engine_tasks.add, {"a": 2, "b": 3}).to_dict()
    *event, first, loud, refused, bug, missing = talk(
        {"place": place, "task": good},
        {"place": place, "task": good | {"work": "engine_tasks:loud", "arguments": {}}},
        {"place": place, "task": good | {"work": "engine_tasks:refuse", "arguments": {"after": "sum-2-3"}}},
        {"place": place, "task": good | {"work": "engine_tasks:bug", "arguments": {}}},
        {"place": place, "task": good | {"work": "no_such_module:bug", "arguments": {}}},
    )
    assert [(one["event"]["done"], one["event"]["total"]) for one in event] == [(1, 2), (2, 2)]
    assert first["output"]["result"]["sum"] == 5
    assert loud["output"]["result"] == {"ok": True}
    assert (refused["error"]["kind"], refused["error"]["sentence"]) == ("BadInput", "this will never do")
    assert "ZeroDivisionError" in bug["error"]["trace"] and not bug["error"]["may_pass"]
    assert missing["error"]["missing"] == "no_such_module"
