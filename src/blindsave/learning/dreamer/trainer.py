"""The training run: act in all environments at once, learn while they move, log, checkpoint, resume."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning.dreamer import agent, checkpoint, refresh, replay, update
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.metrics import Episodes, MetricsFile, Progress
from blindsave.learning.dreamer.schedule import Every, TrainRatio
from blindsave.learning.dreamer.stream import Seen, Stream
from blindsave.store import provenance, read_json, write_json

Watch = Callable[[Mapping[str, Any]], None]
"""Is shown every line of metrics."""


class Result(NamedTuple):
    """How a call of `Trainer.run` ended."""

    step: int
    updates: int
    finished: bool
    summary: dict[str, Any]


class Trainer:
    """One run in one folder. Creating it resumes from the folder's newest state, if there is one.

    Each turn: one compiled call inserts the latest observations and chooses actions; then the environments
    move on their own threads while the due gradient updates run. The acting parameters thus lag by the updates
    of one turn.
    """

    def __init__(
        self, config: Config, stream: Stream, folder: Path, *, quiet: bool = False, watch: Watch | None = None
    ) -> None:
        check_fits(config, stream)
        self.config, self.stream = config, stream
        self.folder = checkpoint.Folder(Path(folder))
        check_same_run(config, self.folder.root / "config.json")
        init_key, self.act_key, self.learn_key, self.refresh_key = jax.random.split(
            jax.random.key(config.training.seed), 4
        )
        self.compiled = agent.Compiled.of(config)
        self.learner = jax.jit(update.init, static_argnums=1)(init_key, config)
        self.buffer = replay.create(config)
        self.carry = agent.initial(config.training.envs, config)
        self.totals = agent.zero_totals(self.learner, self.buffer, config)
        self.ratio = TrainRatio.of(config)
        self.episodes = Episodes(config.training.envs)
        self.step = self.updates = 0
        self.segments: list[dict[str, Any]] = []
        self.seen: Seen | None = None
        self.trained_s = 0.0
        self._logged = _Logged(0, 0, 0.0)
        self._resume()
        self.metrics = MetricsFile(self.folder.root / "metrics.jsonl", self.step)
        self.progress = None if quiet else Progress(config.training.steps)
        self.watch = watch

    def run(self, stop_after_s: float | None = None, stop_at_step: int | None = None) -> Result:
        """Train to the end of the configured steps, or stop cleanly earlier with everything saved."""
        training = self.config.training
        begun, before = time.monotonic(), self.trained_s
        log, save = Every(training.log_every), Every(training.checkpoint_every)
        log(self.step)
        save(self.step)
        if self.seen is None:
            self.seen = self.stream.reset()
            self.episodes.add(self.seen, [])
            self._save()
        end = min(training.steps, stop_at_step or training.steps)
        with ThreadPoolExecutor(1) as pool:
            while self.step < end and (stop_after_s is None or time.monotonic() - begun < stop_after_s):
                self._turn(pool)
                self.trained_s = before + time.monotonic() - begun
                if log(self.step):
                    self._log()
                if save(self.step):
                    self._save()
        if self.step > self._logged.step:
            self._log()
        finished = self.step >= training.steps
        self._save(keep=finished, latents=not finished)
        if self.progress:
            self.progress.close()
        return Result(self.step, self.updates, finished, self.episodes.summary())

    def _turn(self, pool: ThreadPoolExecutor) -> None:
        assert self.seen is not None
        compiled, envs = self.compiled, self.config.training.envs
        self.carry, self.buffer = compiled.act_and_store(
            self.learner.params, self.carry, self.buffer, self.seen, self.act_key
        )
        actions = np.array(self.carry.action)
        if not np.isfinite(actions).all():
            raise self._not_finite("an action")
        moving = pool.submit(self.stream.step, actions)
        self.step += envs
        windows = envs * (self.step // envs - self.config.learning.length)
        due = self.ratio.due(self.step, windows)
        if due:
            self.learner, self.buffer, self.totals = compiled.learn(
                self.learner, self.buffer, self.totals, self.learn_key, np.int32(due)
            )
            self.updates += due
        self.seen = moving.result()
        self.episodes.add(self.seen, self.stream.finished())

    def _log(self) -> None:
        line: dict[str, Any] = {"step": self.step, "updates": self.updates, "time_s": round(self.trained_s, 3)}
        made = self.updates - self._logged.updates
        if made:
            figures = {name: float(v) / made for name, v in jax.device_get(self.totals).items()}
            if not all(map(np.isfinite, figures.values())):
                raise self._not_finite("the loss")
            line |= figures
            self.totals = jax.tree.map(jnp.zeros_like, self.totals)
        elapsed = max(1e-9, self.trained_s - self._logged.time_s)
        line["steps_per_s"] = (self.step - self._logged.step) / elapsed
        line["updates_per_s"] = made / elapsed
        line |= self.episodes.summary()
        self.metrics.add(line)
        self._logged = _Logged(self.step, self.updates, self.trained_s)
        if self.progress:
            self.progress.show(line)
        if self.watch:
            self.watch(line)

    def _not_finite(self, what: str) -> BlindsaveError:
        good = self.folder.steps("state")
        where = f"the last good checkpoint is step {good[-1]}" if good else "there is no checkpoint yet"
        return BlindsaveError(f"{what} is not finite at step {self.step}; training stopped, {where}")

    def _save(self, keep: bool = True, latents: bool = False) -> None:
        """Write a state; with `keep` also the parameters for good, with `latents` all that exact resuming needs."""
        learner = checkpoint.to_numpy(self.learner)
        if not all(np.isfinite(v).all() for v in learner.values()):
            raise self._not_finite("a parameter")
        if keep:
            self.folder.save_params(self.step, self.learner.params, self.config)
        begin, end = self.segments[-1]["to"] if self.segments else 0, self.step // self.config.training.envs
        if end > begin:
            self.segments.append(self.folder.save_segment(self.buffer, begin, end))
        when = self.config.training.latents
        wanted = when == "always" or (latents and when == "on_stop")
        stored = self.folder.save_latents(self.step, self.buffer) if wanted else None
        assert self.seen is not None
        tensors = (
            checkpoint.prefixed("learner/", learner)
            | checkpoint.prefixed("carry/", checkpoint.to_numpy(self.carry))
            | checkpoint.prefixed("totals/", checkpoint.to_numpy(self.totals))
            | checkpoint.prefixed("seen/", checkpoint.to_numpy(self.seen))
            | checkpoint.prefixed("stream/", self.stream.save())
            | {f"replay/{name}": np.asarray(getattr(self.buffer, name)) for name in checkpoint.COUNTERS}
        )
        metadata = {
            "step": self.step,
            "updates": self.updates,
            "ratio_start": self.ratio.start,
            "ratio_done": self.ratio.done,
            "logged": list(self._logged),
            "episodes": self.episodes.count,
            "trained_s": self.trained_s,
            "segments": self.segments,
            "latents": stored,
            "config": self.config.to_json(),
            "provenance": provenance() | {"device": str(jax.devices()[0].device_kind)},
        }
        self.folder.save_state(self.step, tensors, metadata)

    def _resume(self) -> None:
        loaded = self.folder.load_state()
        if loaded is None:
            write_json(self.folder.root / "config.json", self.config.to_json())
            return
        tensors, about = loaded
        source = str(self.folder.path("state", about["step"]))
        self.learner = checkpoint.from_numpy(self.learner, tensors, "learner/", source)
        self.carry = checkpoint.from_numpy(self.carry, tensors, "carry/", source)
        self.totals = checkpoint.from_numpy(self.totals, tensors, "totals/", source)
        self.seen = Seen(**checkpoint.without_prefix("seen/", tensors))
        self.stream.restore(checkpoint.without_prefix("stream/", tensors))
        counters = {name: jnp.asarray(tensors[f"replay/{name}"]) for name in checkpoint.COUNTERS}
        self.segments = list(about["segments"])
        self.buffer = self.folder.load_segments(self.buffer._replace(**counters), self.segments)
        self.step, self.updates = about["step"], about["updates"]
        self.ratio.start, self.ratio.done = about["ratio_start"], about["ratio_done"]
        self.episodes.count, self.trained_s = about["episodes"], about["trained_s"]
        self._logged = _Logged(*about["logged"])
        if about["latents"] is not None:
            self.buffer = self.folder.load_latents(self.step, self.buffer, about["latents"])
        elif self.segments:
            key = jax.random.fold_in(self.refresh_key, self.step)
            self.buffer = refresh.rebuild(self.buffer, self.learner.params, key, self.config)


class _Logged(NamedTuple):
    step: int
    updates: int
    time_s: float


def check_fits(config: Config, stream: Stream) -> None:
    """Refuse a configuration that does not describe the environment."""
    asked = (config.training.envs, config.sizes.observation, config.sizes.action)
    have = (stream.n, stream.observation_size, stream.action_size)
    if asked != have:
        raise BadInput(f"the configuration is for (envs, observation, action) = {asked}, the environment has {have}")


def check_same_run(config: Config, path: Path) -> None:
    """Refuse to continue a folder's run under another configuration; layout and intervals may change."""
    if not path.exists():
        return
    stored = Config.from_json(read_json(path))

    def essence(c: Config) -> dict[str, Any]:
        training = dataclasses.replace(c.training, checkpoint_every=1, log_every=1, latents="on_stop")
        data = dataclasses.replace(c, training=training).to_json()
        return {f"{part}.{name}": v for part in data if part != "speed" for name, v in data[part].items()}

    ours, theirs = essence(config), essence(stored)
    for name, value in ours.items():
        if theirs[name] != value:
            raise BadInput(f"{path.parent} holds a run with {name} = {theirs[name]}, not {value}; use another folder")
