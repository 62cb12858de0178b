"""README, results page and cards keep their word: code runs, numbers are those of the stored results, links lead on."""

import csv
import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from blindsave import __version__
from blindsave.cli import COMMANDS
from blindsave.evidence import tables
from blindsave.evidence.saves import saves
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.report.names import title

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text("utf-8")
RESULTS = (REPOSITORY / "docs/results.md").read_text("utf-8")
CARDS = (REPOSITORY / "docs/model-cards.md").read_text("utf-8")
DATA = (REPOSITORY / "docs/data-card.md").read_text("utf-8")
COMMANDS_PAGE = (REPOSITORY / "docs/commands.md").read_text("utf-8")


def row(start: str, page: str = README) -> list[str]:
    """Cells of the table row that starts with this text."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {start} |"))
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
        assert row(start, RESULTS) == [str(int(held.at(name, length).sum())) for length in held.blackouts]
    found = json.loads((REPOSITORY / "results/memory/memory.json").read_text())["state_reset"]["rows"][-1]
    drop = [f"{100 * found['difference'][key]:.1f}" for key in ("estimate", "low", "high")]
    assert f"saves {100 * found['rate_a']['estimate']:.1f} %; forgetting costs it {drop[0]} points" in RESULTS
    assert f"(95 % interval {drop[1]} to {drop[2]})" in RESULTS


@pytest.mark.parametrize("page", [README, RESULTS], ids=["README", "results"])
def test_numbers_of_the_study_are_those_of_its_tables(page):
    held = saves(tables.read(REPOSITORY / "results/test/principal_test.parquet"))
    for name in (*PAPER_FAMILIES, "teacher"):
        ours = [f"{100 * held.at(name, length).mean():.1f}" for length in (0, 10, 20, 25)]
        assert [cell.split(" (")[0] for cell in row(f"`{name}`", page)[2:]] == ours
    published = published_rates()
    for name in (*PAPER_FAMILIES, "teacher"):
        printed = [cell.split(" (")[1].rstrip(")") for cell in row(f"`{name}`", page)[2:]]
        assert printed == [f"{published[title(name)][ms]:.1f}" for ms in ("0 ms", "200 ms", "400 ms", "500 ms")]
    with open(REPOSITORY / "results/report/tables/contrasts.csv", newline="") as file:
        points = {line["contrast"]: line for line in csv.DictReader(file)}
    for words, name, pages in (
        ("linear minus no memory", "k = 0 − Feed-forward", (README, RESULTS)),
        ("linear minus window", "k = 0 − stack", (RESULTS,)),
        ("gated minus linear", "GRU-64 − k = 0", (README, RESULTS)),
    ):
        value, low, high = (float(points[name][f"estimate{end}"]) for end in ("", "_low", "_high"))
        for one in pages:
            assert f"{words} {value:+.1f} [{low:.1f}, {high:.1f}]" in " ".join(one.split())


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
    words = set(re.findall(r"`blindsave ([a-z][a-z-]*(?: [a-z]+)?)", README + COMMANDS_PAGE))
    for name in words:
        known = name in COMMANDS or name.split()[0] in COMMANDS
        assert known or any(command.startswith(f"{name.split()[0]} ") for command in COMMANDS), name
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (REPOSITORY / link).is_file(), link


def test_model_cards_give_the_counted_and_measured_numbers():
    held = saves(tables.read(REPOSITORY / "results/test/principal_test.parquet"))
    counted = json.loads((REPOSITORY / "results/efficiency/accounting.json").read_text())["families"]
    for name in (*PAPER_FAMILIES, "teacher"):
        card = CARDS[CARDS.index(f"## `{name}`") :].partition("\n## ")[0] + "\n"
        assert f"| {100 * held.at(name, 20).mean():.1f} % |" in card
        if name in counted:
            assert f"| {counted[name]['parameters']:,} | {counted[name]['carry_bytes']} |" in card
    controls = json.loads((REPOSITORY / "results/ppo/summary.json").read_text())["saves"]
    for seed, cells in controls.items():
        assert row(seed, CARDS) == [str(cells[length]["saves"]) for length in ("0", "20")]


def test_the_data_card_counts_the_rows_that_lie_there():
    for name in ("test/principal_test", "test/sealed_test", "noise/noise_test", "validation/*", "memory/*"):
        paths = sorted((REPOSITORY / "results").glob(f"{name}.parquet"))
        assert row(f"`{name}.parquet`", DATA)[0] == f"{sum(pq.read_metadata(path).num_rows for path in paths):,}"


def test_version_and_citation_agree():
    cited = (REPOSITORY / "CITATION.cff").read_text("utf-8")
    assert f"version: {__version__}\n" in cited and f"version = {{{__version__}}}" in README
    assert f"## {__version__}\n" in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    title = "Linear Recurrent Memory Suffices to Distil a World-Model Policy for Robot Air Hockey"
    assert title in cited and " ".join(README.split()).count(title) == 2
