"""The numbers in the pages' tables, from the stored results: `python docs/_tools/pages.py` writes them again.

A table is known by its first line, a row by its first cells, a figure in a sentence by the words before it; all else is
prose and stays. A test runs this and finds nothing to change, so no page can drift away from the results.
"""

import contextlib
import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from blindsave.evidence import tables
from blindsave.evidence.saves import Saves, saves
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.names import title

ROOT = Path(__file__).resolve().parents[2]
PLAYERS = (*PAPER_FAMILIES, "teacher")
STUDY = "| policy | remembers by | parameters | 0 ms | 200 ms | 400 ms | 500 ms |"
FAULTS = {
    "30 % lost": "loss",
    "30 % doubled": "duplication",
    "30 % overtaken": "reordering",
    "10 s of silence": "silence",
    "random bytes after every second packet": "garbage",
    "30 % with a wrong bit": "corruption",
    "30 % cut": "truncation",
    "clock set forward by an hour": "clock_forward",
    "clock set back by an hour": "clock_back",
    "all of these at once": "everything",
}
"""Faults of the line in words."""
RIVALS = ("differences", "least_squares", "kalman", "kalman_gated", "bayes")
KEPT = None
"""A cell that is left as it is."""


@dataclass(frozen=True)
class Table:
    """The rows that one table of a page should have."""

    page: str
    head: str
    """Its first line."""
    rows: Mapping[str, Sequence[str | None]]
    """The other cells by the first one, or the first ones: `a | b`."""
    number: int = 0
    """Which of the tables with this first line it is."""


def written(text: str, table: Table) -> str:
    """The page with the table's cells in it."""
    lines = text.splitlines(keepends=True)
    heads = [place for place, line in enumerate(lines) if line.strip() == table.head]
    if len(heads) <= table.number:
        raise SystemExit(f"{table.page} has no table {table.number + 1} that begins with {table.head}")
    place, left = heads[table.number] + 2, dict(table.rows)
    while place < len(lines) and lines[place].startswith("|"):
        line = lines[place].strip().removeprefix("| ").removesuffix(" |")
        first = next((one for one in left if line.startswith(f"{one} |")), None)
        if first is not None:
            old = line.removeprefix(f"{first} | ").split(" | ")
            new = [was if cell is KEPT else cell for was, cell in zip(old, left.pop(first), strict=True)]
            lines[place] = f"| {' | '.join((first, *new))} |\n"
        place += 1
    if left:
        raise SystemExit(f"{table.page}: the table that begins with {table.head} has no row {next(iter(left))}")
    return "".join(lines)


@dataclass(frozen=True)
class Figure:
    """Numbers in a sentence."""

    page: str
    before: str
    """The words that they follow; lines may break anywhere."""
    value: str


def said(text: str, figure: Figure) -> str:
    """The page with the figure in it; one that stands there already stays as its lines are broken."""
    words = r"\s+".join(map(re.escape, figure.before.split()))
    shape = re.sub(r"[+-]?\d+(\\?\.\d+)?", r"[+-]?\\d+(?:\\.\\d+)?", re.escape(figure.value)).replace(r"\ ", r"\s+")
    shape = shape.replace(r"\[+-]", "[+-]")
    found = re.search(rf"({words}\s+)({shape})", text)
    if found is None:
        raise SystemExit(f"{figure.page} does not say `{figure.before} {figure.value}`, whatever the numbers")
    same = " ".join(found[2].split()) == figure.value
    return text if same else text[: found.start(2)] + figure.value + text[found.end(2) :]


def stored(name: str) -> Any:
    """A JSON file of the results."""
    return json.loads((ROOT / "results" / name).read_text("utf-8"))


def held(name: str) -> Saves:
    """An episode table of the results."""
    return saves(tables.read(ROOT / "results" / name))


def percent(rate: float) -> str:
    """One decimal, as everywhere."""
    return f"{100 * rate:.1f}"


def study() -> Iterator[Table]:
    """Save rates on the principal test, the paper's in brackets."""
    ours, paper = held("test/principal_test.parquet"), published()
    rows = {}
    for name in PLAYERS:
        cells = [
            f"{percent(ours.at(name, length).mean())} ({paper[title(name)][20 * length]:.1f})"
            for length in (0, 10, 20, 25)
        ]
        rows[f"`{name}`"] = (KEPT, KEPT, *cells)
    yield Table("README.md", STUDY, rows)
    yield Table("docs/results.md", STUDY, rows)


def published() -> dict[str, dict[int, float]]:
    """The paper's rates by policy and hidden milliseconds, as the report compares them."""
    found: dict[str, dict[int, float]] = {}
    policy = ""
    with (ROOT / "results/report/tables/paper-versus-ours.csv").open(encoding="utf-8", newline="") as lines:
        for line in csv.DictReader(lines):
            policy = line["policy"] or policy
            found.setdefault(policy, {})[int(line["blackout"].removesuffix(" ms"))] = float(line["paper"])
    return found


def cards() -> Iterator[Table]:
    """What the model cards say of every family and control."""
    ours, counted = held("test/principal_test.parquet"), stored("efficiency/accounting.json")["families"]
    head = "| parameters | bytes kept between steps | saves at 400 ms |"
    for number, name in enumerate(PAPER_FAMILIES):
        costs = counted[name]
        saved = f"{percent(ours.at(name, 20).mean())} %"
        yield Table(
            "docs/model-cards.md", head, {f"{costs['parameters']:,}": (str(costs["carry_bytes"]), saved)}, number
        )
    saved = f"{percent(ours.at('teacher', 20).mean())} %"
    yield Table("docs/model-cards.md", "| parameters | saves at 400 ms |", {"639,446": (saved,)})
    controls = stored("ppo/summary.json")["saves"]
    rows = {seed: [str(cells[length]["saves"]) for length in ("0", "20")] for seed, cells in controls.items()}
    yield Table("docs/model-cards.md", "| seed | saves at 0 ms | saves at 400 ms |", rows)


def memory() -> Iterator[Table]:
    """The memory tests: state erased, exchanged memories, held arms."""
    reset, control = held("memory/state_reset.parquet"), held("memory/memoryless.parquet")
    rows = {
        first: [str(int(table.at(name, length).sum())) for length in table.blackouts]
        for first, table, name in (
            ("teacher", reset, "teacher"),
            ("teacher, state erased when the puck disappears", reset, "teacher_reset"),
            ("memoryless control", control, "ppo"),
        )
    }
    yield Table("docs/results.md", "| hidden for | 0 ms | 100 ms | 200 ms | 300 ms | 400 ms |", rows)
    players = ("teacher", "gru_n64", "structured_k0", "finite_stack_10")
    exchanged, left = by_moment("memory/swap.json"), by_moment("memory/leave.json")
    moments = {"never": None} | {f"{ms} ms": ms for ms in range(0, 280, 40)} | {"280 ms and later": 280}
    rows = {first: [*(exchanged[name][ms] for name in players), left["teacher"][ms]] for first, ms in moments.items()}
    head = "| exchanged after | teacher | GRU-64 | linear (k = 0) | window of ten | arm sent away (teacher's) |"
    yield Table("docs/memory-tests.md", head, rows)
    held_arms = by_moment("memory/hold.json")
    moments = {"as usual": None} | {f"{ms} ms": ms for ms in range(40, 280, 40)}
    rows = {first: [held_arms[name][ms] for name in (*players, "feed_forward")] for first, ms in moments.items()}
    head = "| released after | teacher | GRU-64 | linear (k = 0) | window of ten | no memory |"
    yield Table("docs/memory-tests.md", head, rows)


def by_moment(name: str) -> dict[str, dict[int | None, str]]:
    """Save rates of `blindsave memory-swap` by policy and moment."""
    found: dict[str, dict[int | None, str]] = {}
    for row in stored(name)["rows"]:
        found.setdefault(row["policy"], {})[row["hidden_ms"]] = percent(row["rate"]["estimate"])
    return found


def probe() -> Iterator[Table]:
    """What probes read, means over seeds."""
    families: dict[str, list[Any]] = {}
    for name, figures in stored("probe/probe.json")["policies"].items():
        families.setdefault(name.partition("/")[0], []).append(figures)
    first = {"teacher": "teacher", "ppo": "`ppo` (memoryless control)"}
    rows = {}
    for name, found in families.items():
        kept = [
            [one["mean_mm"], one["lateral_mm"], *(one["by_time"][end]["mean_mm"] for end in (0, -1))] for one in found
        ]
        rows[first.get(name, f"`{name}`")] = [f"{sum(values) / len(found):.1f}" for values in zip(*kept, strict=True)]
    yield Table("docs/probe.md", "| policy | mean, mm | across the table, mm | after 20 ms | after 400 ms |", rows)


def deploy() -> Iterator[Table]:
    """Whole numbers and microcontrollers."""
    found = stored("bench/integers.json")["families"]["structured_k0"]
    rows = {"float, saves in %": [percent(cell["estimate"]) for cell in found["rates"]["structured_k0"].values()]}
    for kind in ("int16", "int8"):
        cells = found["differences"][f"structured_k0_{kind}"].values()
        rows[f"{kind} minus float"] = [
            f"{100 * c['estimate']:+.1f} [{100 * c['low']:.1f}, {100 * c['high']:.1f}]" for c in cells
        ]
    yield Table("docs/deploy.md", "| hidden for | 0 ms | 100 ms | 200 ms | 300 ms | 400 ms | 500 ms |", rows)
    emulated = stored("bench/board.json")
    keys = ("flash_bytes", "state_bytes", "stack_bytes", "instructions_per_step")
    rows = {
        f"`{policy}`, {numbers} | {emulated['boards'][board]['processor']}": [f"{cell[key]:,}" for key in keys]
        for policy, versions in emulated["policies"].items()
        for numbers, cells in versions.items()
        for board, cell in cells.items()
    }
    yield Table("docs/deploy.md", "| policy | processor | flash | state | stack | instructions per step |", rows)


def rivals() -> Iterator[Table]:
    """Classical rivals beside a student and its teacher, where `main_study.py derive --only rivals` has played them."""
    if not (ROOT / "results/bench/rivals.json").is_file():
        return
    found = stored("bench/rivals.json")
    head = "| policy | 0 ms | 100 ms | 200 ms | 300 ms | 400 ms | 500 ms |"
    for number, condition in enumerate(("", "+noise_5mm")):
        rows = {
            f"`{name}`": [percent(rate(cells[f"{length}{condition}"])) for length in (0, 5, 10, 15, 20, 25)]
            for name, cells in found["validation"].items()
        }
        yield Table("docs/rivals.md", head, rows, number)
    order = [name for name in (*RIVALS, "structured_k0/14303", "teacher") if name in found["train"]]
    rows = {
        first: [percent(rate(found["train"][name][key])) for name in order]
        for first, key in (("clean", "20"), ("5 mm", "20+noise_5mm"))
    }
    yield Table("docs/rivals.md", f"| | {' | '.join(f'`{name}`' for name in order)} |", rows)


def drive() -> Iterator[Table]:
    """The loop: how long a tick takes, and what it did under every fault."""
    found = stored("bench/drive.json")
    keys = ("p50_ns", "p99_ns", "p999_ns", "worst_ns")
    rows = {kind: [f"{found['loopback'][kind][key] / 1000:,.1f}" for key in keys] for kind in ("work", "response")}
    yield Table("docs/drive.md", "| microseconds | half of all | 99 % | 99.9 % | longest |", rows)
    rows = {}
    for words, name in FAULTS.items():
        one = found["faults"][name]
        kept = (one["packets"], *one["modes"].values(), one["unsafe"], one["recovered_after"])
        rows[words] = [f"{number:,}" for number in kept]
    yield Table("docs/drive.md", "| fault | packets | run | blind | hold | stop | unsafe | runs again after |", rows)


def rate(cell: Mapping[str, int]) -> float:
    """Saves of shots."""
    return cell["saves"] / cell["shots"]


def differences() -> Iterator[Figure]:
    """Planned differences at 400 ms, and what forgetting costs the teacher."""
    with (ROOT / "results/report/tables/contrasts.csv").open(encoding="utf-8", newline="") as lines:
        points = {line["contrast"]: line for line in csv.DictReader(lines)}
    for words, pair, pages_with_it in (
        ("linear minus no memory", "k = 0 − Feed-forward", ("README.md", "docs/results.md")),
        ("linear minus window", "k = 0 − stack", ("docs/results.md",)),
        ("gated minus linear", "GRU-64 − k = 0", ("README.md", "docs/results.md")),
    ):
        value, low, high = (float(points[pair][f"estimate{end}"]) for end in ("", "_low", "_high"))
        for page in pages_with_it:
            yield Figure(page, words, f"{value:+.1f} [{low:.1f}, {high:.1f}]")
    last = stored("memory/memory.json")["state_reset"]["rows"][-1]
    drop, low, high = (percent(last["difference"][key]) for key in ("estimate", "low", "high"))
    yield Figure("docs/results.md", "At 400 ms the teacher saves", f"{percent(last['rate_a']['estimate'])} %")
    yield Figure("docs/results.md", "forgetting costs it", f"{drop} points (95 % interval {low} to {high})")
    asked = {one["id"]: one["contrast"] for one in stored("remember/horizon/curves.json")["verdicts"]}
    value, low, high = (100 * asked["window"][key] for key in ("estimate", "low", "high"))
    yield Figure("README.md", "(linear minus window", f"{value:+.1f} [{low:.1f}, {high:.1f}]")
    speed = stored("bench/drive.json")["loopback"]["ticks_per_s"]
    yield Figure("docs/drive.md", "ticks over loopback,", f"{speed:,.0f} a second")
    played = [
        f"{one['saves']} of {one['shots']} saved under `{one['condition']}`"
        for one in stored("bench/drive.json")["shots"]
    ]
    yield Figure("docs/drive.md", "end as `evaluate` says, every one:", ", ".join(played))


TABLES: tuple[Callable[[], Iterator[Table]], ...] = (study, cards, memory, probe, deploy, rivals, drive)


def fingerprints(text: str) -> str:
    """The page with the tables of `blindsave teacher fingerprint`, teachers in the order of its command."""
    from blindsave.cli.fingerprint import Fingerprint

    kept = stored("teachers/fingerprints.json")
    order = sorted(kept["teachers"], key=lambda name: kept["command"].find(name))
    kept["teachers"] = {name: kept["teachers"][name] for name in order}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), mock.patch.dict(os.environ, COLUMNS="80"):
        Fingerprint(()).show(kept)
    head, _, rest = text.partition("```\nsaves on validation shots")
    return f"{head}```\n{printed.getvalue()}```{rest.partition('```')[2]}"


def pages() -> dict[str, str]:
    """Every page that has such numbers, as it should be."""
    made: dict[str, str] = {}

    def text(page: str) -> str:
        return made.get(page) or (ROOT / page).read_text("utf-8")

    for part in TABLES:
        for table in part():
            made[table.page] = written(text(table.page), table)
    for figure in differences():
        made[figure.page] = said(text(figure.page), figure)
    made["docs/teacher.md"] = fingerprints(text("docs/teacher.md"))
    return made


if __name__ == "__main__":
    for name, text in pages().items():
        if text != (ROOT / name).read_text("utf-8"):
            (ROOT / name).write_text(text, "utf-8")
            print(f"{name}: written", file=sys.stderr)
