"""The same tasks on a Ray cluster (extra `cluster`). The study's folder must lie on a disk that every node sees.

Only JSON text travels: a task's description there, its output or error back. What was made stays in the folder.
"""

import contextlib
import json
import logging
import os
import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import RayError

from blindsave.engine.machine import TRAININGS_PER_GPU, cores
from blindsave.engine.nodes import check_nodes, unseen
from blindsave.engine.perform import TransientError, answer, describe, restore
from blindsave.engine.retries import Retries
from blindsave.engine.task import EventHandler, Output, Place, Task, TaskEvent, describe_place
from blindsave.errors import BadInput, BlindsaveError
from blindsave.store import sweep_all

TICK_S = 0.5
PATIENCE_S = 10.0
ATTEMPTS = 3


class RayEngine:
    """An engine of Ray tasks; use it as a context manager.

    Without an `address` it starts a small Ray of its own on this machine, with as many workers as are asked for. With
    one (`auto` or `HOST:PORT`) it joins that cluster and has at most `workers` tasks there at a time.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise BadInput(f"there must be at least 1 worker, got {workers}")
        self.address, self.workers = address, workers
        self._checked: set[Path] = set()
        self._ear: Any = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> "RayEngine":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
        # Ray would otherwise hide GPUs from workers that reserve none, with a warning about that.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if self.address is None:
            options |= {"num_cpus": self.workers or cores(), "include_dashboard": False}
        _start(self.address, options)
        # Ray prints pages about every lost worker to standard output; the run says it in one line.
        nowhere = self._stack.enter_context(open(os.devnull, "w"))
        self._stack.enter_context(contextlib.redirect_stdout(nowhere))
        self._ear = _remote(_Ear, num_cpus=0, max_restarts=-1).remote()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        ray.shutdown()
        self._stack.close()
        for folder in self._checked:
            sweep_all(folder)

    def run(self, place: Place, tasks: Sequence[Task[Any]], tell: EventHandler) -> list[Output]:
        """Do all the tasks, wherever the cluster has room."""
        self._check(place)
        outputs: dict[int, Output] = {}
        waiting, flying, retries = deque(range(len(tasks))), dict[Any, int](), Retries(tell)
        try:
            while len(outputs) < len(tasks):
                while waiting and len(flying) < self._room():
                    number = waiting.popleft()
                    flying[self._submit(place, tasks[number], len(tasks))] = number
                    tell(TaskEvent("begun", tasks[number].key))
                ready, _ = ray.wait(list(flying), timeout=TICK_S)
                self._listen(tell)
                for reference in ready:
                    number = flying.pop(reference)
                    try:
                        outputs[number] = _output(reference, tasks[number].key)
                        tell(TaskEvent("ended", tasks[number].key))
                    except TransientError as mishap:
                        retries.after(tasks[number].key, mishap)
                        waiting.appendleft(number)
        except BaseException:
            _cancel(list(flying))
            raise
        return [outputs[number] for number in range(len(tasks))]

    def _check(self, place: Place) -> None:
        """Every node must see the folder and run the same code; asked once per folder."""
        folder = place.folder.resolve()
        if folder not in self._checked:
            folder.mkdir(parents=True, exist_ok=True)
            check_nodes(folder)
            self._checked.add(folder)

    def _room(self) -> int:
        """Tasks the cluster may have at a time."""
        return self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _submit(self, place: Place, task: Task[Any], count: int) -> Any:
        described = describe_place(place)
        sizes = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        smallest = min((size for size in sizes if size), default=1)
        share = min(smallest, max(1, self._room() // count))
        threads = max(sizes, default=1) if task.exclusive else described["threads"] or share
        options: dict[str, Any] = {"num_cpus": threads, "max_retries": 0}
        graphics = ray.cluster_resources().get("GPU", 0)
        if graphics and (task.trains or task.exclusive):
            options["num_gpus"] = 1 if task.exclusive else 1 / TRAININGS_PER_GPU
        if task.exclusive:
            options["max_calls"] = 1
        request = json.dumps({"place": described | {"threads": threads}, "task": task.to_dict()})
        return _remote(_work, **options).remote(request, self._ear)

    def _listen(self, tell: EventHandler) -> None:
        """Pass on what tasks said; an ear that died is replaced by Ray, and only talk is lost."""
        with contextlib.suppress(RayError):
            for text in ray.get(self._ear.heard.remote(), timeout=PATIENCE_S):
                tell(TaskEvent(**json.loads(text)))


class _Ear:
    """Hears what tasks say on any node, until the engine asks."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def hear(self, text: str) -> None:
        self.texts.append(text)

    def heard(self) -> list[str]:
        texts, self.texts = self.texts, []
        return texts


def _start(address: str | None, options: dict[str, Any]) -> None:
    """Join a cluster, or start one here; on a busy machine Ray may need more than one attempt."""
    host, _, port = (address or "").rpartition(":")
    if port.isdigit():
        try:  # Ray itself would try for minutes
            socket.create_connection((host, int(port)), timeout=PATIENCE_S).close()
        except OSError as error:
            raise BadInput(f"there is no Ray cluster at {address} ({error.strerror or error})") from error
    for attempt in range(ATTEMPTS):
        try:
            # Unless told `local`, Ray would join any cluster it finds on the machine or in RAY_ADDRESS.
            ray.init(address or "local", **options)
            return
        except Exception as error:  # Ray raises bare ones
            ray.shutdown()
            if address is not None:
                raise BadInput(f"there is no Ray cluster at {address} ({_first_line(error)})") from error
            if attempt == ATTEMPTS - 1:
                raise BlindsaveError(f"Ray does not start on this machine ({_first_line(error)})") from error


def _work(request: str, ear: Any) -> str:
    """Do one task in a Ray worker."""

    def tell(event: TaskEvent) -> None:
        ear.hear.remote(json.dumps(asdict(event)))

    asked = json.loads(request)
    folder = asked["place"]["folder"]
    if not Path(folder).is_dir():  # a node that joined after all had been asked
        node = ray.util.get_node_ip_address()
        return json.dumps({"error": describe(BadInput(unseen(node, folder)))})
    return json.dumps(answer(asked, tell), allow_nan=False)


def _output(reference: Any, key: str) -> Output:
    try:
        message = json.loads(ray.get(reference))
    except RayError as error:
        raise TransientError(f"Ray lost its worker ({_first_line(error).partition('. ')[0]})") from error
    if "error" in message:
        raise restore(message["error"], key)
    return Output.from_dict(message["output"])


def _cancel(references: list[Any]) -> None:
    """Interrupt tasks and wait for them to put their things away."""
    with contextlib.suppress(RayError):
        for reference in references:
            ray.cancel(reference)
        if references:
            ray.wait(references, num_returns=len(references), timeout=PATIENCE_S)


def _remote(work: Any, **options: Any) -> Any:
    return ray.remote(**options)(work)


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
