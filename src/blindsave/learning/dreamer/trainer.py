"""The training run: act in all environments at once, learn while they move, log, checkpoint, resume."""

from __future__ import annotations

import dataclasses
import itertools
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning.dreamer import agent, checkpoint, population, refresh, replay, update
from blindsave.learning.dreamer.background import Background
from blindsave.learning.dreamer.config import Config
from blindsave.learning.dreamer.member import Member, average
from blindsave.learning.dreamer.metrics import MetricsFile, remark
from blindsave.learning.dreamer.schedule import Every, TrainRatio
from blindsave.learning.dreamer.stream import Finished, Seen, Stream
from blindsave.progress import Progress
from blindsave.store import provenance, read_json, write_json

Watch = Callable[[Mapping[str, Any]], None]
"""Is shown every line of metrics; of a population, the mean over its teachers."""


class Result(NamedTuple):
    """How a call of `Trainer.run` ended."""

    step: int
    updates: int
    finished: bool
    summary: dict[str, Any]


class Trainer:
    """One run in one folder, of one teacher or a population. Creating it resumes from the folder's newest state.

    Each turn: one compiled call inserts the latest observations and chooses actions; then the environments
    move on their own threads while the due gradient updates run. The acting parameters thus lag by the updates
    of one turn. `step` and `updates` count those of one teacher; all teachers of a population are equally far.
    """

    def __init__(
        self, config: Config, stream: Stream, folder: Path, *, quiet: bool = False, watch: Watch | None = None
    ) -> None:
        check_fits(config, stream)
        self.config, self.stream = config, stream
        self.folder = checkpoint.Folder(Path(folder))
        check_same_run(config, self.folder.root / "config.json")
        self.members = [Member(config, i, self.folder.root) for i in range(config.training.population)]
        init_key, self.act_key, self.learn_key, self.refresh_key = population.split_keys(config, 4)
        self.compiled = agent.Compiled.of(config)
        self.learner = jax.jit(population.mapped(partial(update.init, config=config), config))(init_key)
        self.buffer = replay.create(config)
        self.carry = population.copies(agent.initial(config.training.envs, config), config)
        self.totals = agent.zero_totals(self.learner, self.buffer, config)
        self.ratio = TrainRatio.of(config)
        self.step = self.updates = 0
        self.segments: list[dict[str, Any]] = []
        self.seen: Seen | None = None
        self.trained_s = 0.0
        self._logged = _Logged(0, 0, 0.0)
        self._resume()
        for member in self.members:
            member.metrics = MetricsFile(member.folder.root / "metrics.jsonl", self.step)
        self.progress = Progress("teacher: steps", config.training.steps, quiet=quiet)
        self.watch = watch

    def run(self, stop_after_s: float | None = None, stop_at_step: int | None = None) -> Result:
        """Train to the end of the configured steps, or stop cleanly earlier with everything saved."""
        training = self.config.training
        begun, before = time.monotonic(), self.trained_s
        log, save = Every(training.log_every), Every(training.checkpoint_every)
        log(self.step)
        save(self.step)
        end = min(training.steps, stop_at_step or training.steps)
        with ThreadPoolExecutor(1) as pool, self.progress, Background() as self.writer:
            if self.seen is None:
                self.seen = self.stream.reset()
                self._count_episodes([])
                self._save()
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
        summary = average([member.episodes.summary() for member in self.members])
        return Result(self.step, self.updates, finished, summary)

    def _turn(self, pool: ThreadPoolExecutor) -> None:
        assert self.seen is not None
        compiled, envs = self.compiled, self.config.training.envs
        self.carry, self.buffer = compiled.act_and_store(
            self.learner.params, self.carry, self.buffer, self._by_member(self.seen), self.act_key
        )
        actions = np.array(self.carry.action).reshape(self.stream.n, -1)
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
        self._count_episodes(self.stream.finished())

    def _by_member(self, seen: Seen) -> Seen:
        """Give what all environments showed an axis of teachers, where there are several."""
        n = len(self.members)
        return seen if n == 1 else Seen._make(a.reshape(n, -1, *a.shape[1:]) for a in seen)

    def _count_episodes(self, finished: list[Finished]) -> None:
        assert self.seen is not None
        by_member, reports = self._by_member(self.seen), iter(finished)
        for member in self.members:
            seen = Seen._make(map(member.of, by_member))
            member.episodes.add(seen, list(itertools.islice(reports, int(seen.last.sum()))))

    def _log(self) -> None:
        made, elapsed = self.updates - self._logged.updates, max(1e-9, self.trained_s - self._logged.time_s)
        common = {"step": self.step, "updates": self.updates, "time_s": round(self.trained_s, 3)}
        speed = {"steps_per_s": (self.step - self._logged.step) / elapsed, "updates_per_s": made / elapsed}
        totals = jax.device_get(self.totals) if made else {}
        for name, value in totals.items():
            if not np.isfinite(value).all():
                raise self._not_finite("the loss" if name.startswith("loss") else name)
        lines = [common | speed | member.line(totals, made) for member in self.members]
        for member, line in zip(self.members, lines, strict=True):
            member.metrics.add(line)
        self.totals = jax.tree.map(jnp.zeros_like, self.totals)
        self._logged = _Logged(self.step, self.updates, self.trained_s)
        shown = average(lines)
        self.progress.at(self.step, remark(shown))
        if self.watch:
            self.watch(shown)

    def _not_finite(self, what: str) -> BlindsaveError:
        self.writer.wait()
        good = self.folder.steps("state")
        where = f"the last good checkpoint is step {good[-1]}" if good else "there is no checkpoint yet"
        return BlindsaveError(f"{what} is not finite at step {self.step}; training stopped, {where}")

    def _save(self, keep: bool = True, latents: bool = False) -> None:
        """Write a state; with `keep` also the parameters for good, with `latents` all that exact resuming needs.

        Everything is copied from the device now, and written while training goes on.
        """
        self.writer.wait()
        learner = checkpoint.to_numpy(self.learner)
        if not all(np.isfinite(v).all() for v in learner.values()):
            raise self._not_finite("a parameter")
        begin, end = self.segments[-1]["to"] if self.segments else 0, self.step // self.config.training.envs
        segment = checkpoint.segment(self.buffer, begin, end)
        when = self.config.training.latents
        wanted = when == "always" or (latents and when == "on_stop")
        stored = checkpoint.to_numpy({"h": self.buffer.h, "z": self.buffer.z}) if wanted else None
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
            "episodes": [member.episodes.count for member in self.members],
            "trained_s": self.trained_s,
            "config": self.config.to_json(),
            "provenance": provenance() | {"device": str(jax.devices()[0].device_kind)},
        }

        def write(step: int = self.step) -> None:
            if keep:
                for member in self.members:
                    member.save_params(step, checkpoint.without_prefix("params/", learner))
            if end > begin:
                self.segments.append(self.folder.save_segment(segment, begin, end))
            checksum = None if stored is None else self.folder.save_latents(step, stored)
            self.folder.save_state(step, tensors, metadata | {"segments": self.segments, "latents": checksum})

        self.writer.do(write)

    def _resume(self) -> None:
        loaded = self.folder.load_state()
        if loaded is None:
            write_json(self.folder.root / "config.json", self.config.to_json())
            for member in self.members:
                write_json(member.folder.root / "config.json", member.config.to_json())
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
        self.trained_s = about["trained_s"]
        for member, episodes in zip(self.members, about["episodes"], strict=True):
            member.episodes.count = episodes
        self._logged = _Logged(*about["logged"])
        if about["latents"] is not None:
            self.buffer = self.folder.load_latents(self.step, self.buffer, about["latents"])
        elif self.segments:
            key = population.mapped(jax.random.fold_in, self.config, (0, None))(self.refresh_key, self.step)
            self.buffer = refresh.rebuild(self.buffer, self.learner.params, key, self.config)


class _Logged(NamedTuple):
    step: int
    updates: int
    time_s: float


def check_fits(config: Config, stream: Stream) -> None:
    """Refuse a configuration that does not describe the environment."""
    asked = (config.training.envs * config.training.population, config.sizes.observation, config.sizes.action)
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
