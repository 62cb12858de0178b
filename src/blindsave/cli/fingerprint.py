"""The command that tells teachers apart."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import Threads, print_table, tell
from blindsave.cli.targets import OutFile

Print = Mapping[str, Any]
ENDINGS = {
    "returned": ("returned",),
    "arrested": ("arrested",),
    "deflected": ("safe_deflection",),
    "conceded": ("goal_conceded",),
    "timed out": ("timeout_after_contact", "timeout_without_contact"),
}
"""Columns of the table of outcomes; all other outcomes are counted as other."""
ROUGH = ("before_contact", "after_contact", "visible", "hidden")
MILLISECONDS = {"0": "0 ms", "5": "100 ms", "10": "200 ms", "15": "300 ms", "20": "400 ms"}


@dataclass(frozen=True)
class Fingerprint:
    """Tell teachers apart: saves, outcomes, state resets, nearest histories, roughness, side by side.

    About a minute per teacher on two cores. Everything is played anew and is the same every time; docs/teacher.md
    explains the figures.
    """

    teachers: tyro.conf.Positional[tuple[str, ...]]
    """`teacher`, a teacher file, a training's parameter file, or a folder: a training's (its selected checkpoint) or
    one that holds teacher.safetensors. Sampled actions need the whole agent: a training, agent.safetensors beside the
    teacher, or --agents."""
    agents: tuple[Path, ...] = ()
    """Trainings or their parameter files that the teachers were frozen from, to sample their actions."""
    shots: int | None = None
    """Play only the first shots of each split (a trial)."""
    episodes: int = 20_000
    """Base episodes whose clear ones (one in 21) are compared as histories; fewer for a trial."""
    out: OutFile | None = None
    """Also write the figures to this JSON file."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Take every teacher's fingerprint."""
        from blindsave.diagnostics.fingerprint import Extent, fingerprint
        from blindsave.diagnostics.teacher_files import find_teachers
        from blindsave.progress import Progress
        from blindsave.store import provenance, write_json

        extent = Extent(self.shots, self.episodes)
        found = find_teachers(self.teachers, self.agents)
        for one in found:
            if one.agent is not None and not one.can_be_sampled:
                tell(f"{one.name}: its actions are not sampled, because JAX is not installed")
        taken = {}
        with Progress("fingerprints", sum(extent.count(one) for one in found)) as bar:
            for one in found:
                bar.at(bar.done, one.name)
                taken[one.name] = fingerprint(one, extent, threads=self.threads, progress=bar.advance)
        result = {"teachers": taken, "shots": self.shots, "episodes": self.episodes}
        if self.out is not None:
            write_json(self.out, {**result, "command": self._command(), "measured_on": provenance()})
        return result

    def show(self, result: dict[str, Any]) -> None:
        """Print one small table per question, a line per teacher, the paper's last."""
        from blindsave.report.published import fingerprint

        paper = fingerprint()
        teachers: dict[str, Print] = {**result["teachers"], "paper": paper}
        _print("saves on validation shots (%), by how long the puck is hidden", _saves(teachers))
        _print("how those episodes ended", _outcomes(result["teachers"]))
        _print("saves lost where the state is erased when the puck disappears (points)", _resets(teachers))
        _print("nearest training histories; an episode's steps; ms from release", _histories(teachers))
        _print("mean change of requests from step to step", _rough(result["teachers"], "change"))
        _print("mean second difference of requests", _rough(result["teachers"], "second_difference"))
        if self.out is not None:
            print(f"written to {self.out}")

    def _command(self) -> str:
        words = ["blindsave", "teacher", "fingerprint", *self.teachers]
        words += ["--agents", *map(str, self.agents)] if self.agents else []
        words += [] if self.shots is None else ["--shots", str(self.shots)]
        words += [] if self.episodes == type(self).episodes else ["--episodes", str(self.episodes)]
        return shlex.join([*words, "--out", str(self.out)])


Lines = tuple[list[str], list[list[str]]]


def _print(title: str, lines: Lines) -> None:
    columns, rows = lines
    print_table(title, ["teacher", *columns], rows)


def _saves(teachers: Mapping[str, Print]) -> Lines:
    rows = []
    for name, one in teachers.items():
        for mode, cells in one["saves"].items():
            rates = [100 * cells[length]["saves"] / cells[length]["shots"] for length in MILLISECONDS]
            label = name if mode == "deterministic" else f"{name}, {mode}"
            rows.append([label, *_numbers([*rates, sum(rates) / len(rates)], 1)])
    return [*MILLISECONDS.values(), "all"], rows


def _outcomes(teachers: Mapping[str, Print]) -> Lines:
    """Counts by ending; endings that nobody had are left out."""
    counted: dict[str, list[int]] = {}
    for name, one in teachers.items():
        for mode, counts in one["outcomes"].items():
            told = [sum(counts.get(label, 0) for label in labels) for labels in ENDINGS.values()]
            label = name if mode == "deterministic" else f"{name}, {mode}"
            counted[label] = [*told, sum(counts.values()) - sum(told)]
    had = [i for i, column in enumerate(zip(*counted.values(), strict=True)) if any(column)]
    columns = [*ENDINGS, "other"]
    return [columns[i] for i in had], [[label, *(str(row[i]) for i in had)] for label, row in counted.items()]


def _resets(teachers: Mapping[str, Print]) -> Lines:
    columns = {length: text for length, text in MILLISECONDS.items() if length != "0"}
    rows = [
        [name, *_numbers((one["state_reset"][length]["drop"] for length in columns), 1)]
        for name, one in teachers.items()
    ]
    return list(columns.values()), rows


def _histories(teachers: Mapping[str, Print]) -> Lines:
    rows = []
    for name, one in teachers.items():
        near, when = one["nearest_history"], one["timing"]
        far = _numbers((near["mean"], near["p95"], near["label_variance"]), 3)
        rows.append(
            [name, *far, *_numbers((when["steps"],), 1), *_numbers((when["halfway_ms"], when["first_contact_ms"]), 0)]
        )
    return ["distance", "95 %", "label variance", "steps", "half way", "touch"], rows


def _rough(teachers: Mapping[str, Print], figure: str) -> Lines:
    rows = [[name, *_numbers((one["roughness"][part][figure] for part in ROUGH), 3)] for name, one in teachers.items()]
    return [part.replace("_", " ") for part in ROUGH], rows


def _numbers(values: Iterable[float | None], decimals: int) -> list[str]:
    return ["-" if value is None else f"{value:.{decimals}f}" for value in values]
