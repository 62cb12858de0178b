"""The README keeps its word: its code runs, its numbers are those of the stored results, its links lead somewhere."""

import csv
import json
import re
from pathlib import Path

import pytest

from blindsave.cli import COMMANDS
from blindsave.evidence import tables
from blindsave.evidence.saves import saves
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.names import title

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text()


def row(start: str) -> list[str]:
    """Cells of the table row that starts with this text."""
    line = next(line for line in README.splitlines() if line.startswith(f"| {start} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


@pytest.mark.parametrize("number", range(len(re.findall(r"```python\n", README))))
def test_code_runs_as_printed(number):
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[number]
    exec(compile(code, f"README.md block {number}", "exec"), {"__name__": "readme"})


def test_numbers_of_the_memory_tests_are_those_of_the_tables():
    reset = saves(tables.read(REPOSITORY / "results/memory/state_reset.parquet"))
    control = saves(tables.read(REPOSITORY / "results/memory/memoryless.parquet"))
    for start, held, name in (
        ("teacher", reset, "teacher"),
        ("teacher, state erased when the puck disappears", reset, "teacher_reset"),
        ("memoryless control", control, "ppo"),
    ):
        assert row(start) == [str(int(held.at(name, length).sum())) for length in held.blackouts]
    found = json.loads((REPOSITORY / "results/memory/memory.json").read_text())["state_reset"]["rows"][-1]
    drop = [f"{100 * found['difference'][key]:.1f}" for key in ("estimate", "low", "high")]
    assert f"saves {100 * found['rate_a']['estimate']:.1f} %; forgetting costs it {drop[0]} points" in README
    assert f"(95 % interval {drop[1]} to {drop[2]})" in README


def test_numbers_of_the_study_are_those_of_its_tables():
    held = saves(tables.read(REPOSITORY / "results/test/principal_test.parquet"))
    for name in (*PAPER_FAMILIES, "teacher"):
        ours = [f"{100 * held.at(name, length).mean():.1f}" for length in (0, 10, 20, 25)]
        assert [cell.split(" (")[0] for cell in row(f"`{name}`")[2:]] == ours
    published = published_rates()
    for name in (*PAPER_FAMILIES, "teacher"):
        printed = [cell.split(" (")[1].rstrip(")") for cell in row(f"`{name}`")[2:]]
        assert printed == [f"{published[title(name)][ms]:.1f}" for ms in ("0 ms", "200 ms", "400 ms", "500 ms")]
    with open(REPOSITORY / "results/report/tables/contrasts.csv", newline="") as file:
        points = {line["contrast"]: line for line in csv.DictReader(file)}
    for words, name in (
        ("linear minus no memory", "k = 0 − Feed-forward"),
        ("linear minus window", "k = 0 − stack"),
        ("gated minus linear", "GRU-64 − k = 0"),
    ):
        value, low, high = (float(points[name][f"estimate{end}"]) for end in ("", "_low", "_high"))
        assert f"{words} {value:+.1f} [{low:.1f}, {high:.1f}]" in README


def published_rates() -> dict[str, dict[str, float]]:
    """The paper's rates by family and blackout, from the report's comparison."""
    found: dict[str, dict[str, float]] = {}
    family = ""
    with open(REPOSITORY / "results/report/tables/paper-versus-ours.csv", newline="") as file:
        for line in csv.DictReader(file):
            family = line["policy"] or family
            found.setdefault(family, {})[line["blackout"]] = float(line["paper"])
    return found


def test_commands_and_links_exist():
    words = set(re.findall(r"`blindsave ([a-z][a-z-]*(?: [a-z]+)?)", README))
    for name in words:
        known = name in COMMANDS or name.split()[0] in COMMANDS
        assert known or any(command.startswith(f"{name.split()[0]} ") for command in COMMANDS), name
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (REPOSITORY / link).is_file(), link
