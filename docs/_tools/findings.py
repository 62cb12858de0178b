"""The tables of docs/findings.md: one study per teacher, beside the paper's."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import shown

from blindsave.diagnostics import curve_table
from blindsave.evidence.hypotheses import Verdict, decide
from blindsave.evidence.intervals import adjust
from blindsave.evidence.mrmc import next_teacher, over_teachers
from blindsave.evidence.saves import Saves
from blindsave.report import published
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.results import read_results
from blindsave.report.sheet import Estimate
from blindsave.report.verdicts import verdict
from blindsave.store import read_json, write_whole

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "findings.md"
TEACHERS = ROOT / "results" / "teachers"
MAIN = "7303, main study"
LINEAR, WINDOW, GATED = "structured_k0", "finite_stack_10", "gru_n64"
POLICIES = {
    "teacher": "teacher",
    "feed_forward": "no memory",
    WINDOW: "window of ten",
    LINEAR: "linear memory (k = 0)",
    GATED: "gated unit (GRU-64)",
}
PAIRS = {
    "linear - none": (LINEAR, "feed_forward"),
    "linear - window": (LINEAR, WINDOW),
    "gated - linear": (GATED, LINEAR),
}
BLACKOUT, NOISE = 20, "noise_5mm"
HOLD, HELD_MS = "hold.json", 200
NOISY = "linear - gated, 5 mm noise"
PAPER_NOISE = "+5.6 [+2.8, +9.0]"
PAPER_GRUS, PAPER_ERRORS = "88.4 to 95.6", ("0.117 to 0.123", "0.077 to 0.085")
"""Of the paper's text and records, which have no table of them."""
CUT, ENDED = "time-outs cut (as the authors')", "time-outs ended"
PLANNED, ABLE = 8, 0.9
"""How many teachers the plan asks about, all or none; and who of them can do at 400 ms what it is to teach."""

Group = Mapping[str, Analysis]


class Question(NamedTuple):
    """A difference that is asked over teachers, and what the paper has, in points."""

    words: str
    claim: str
    a: str
    b: str
    condition: str
    paper: float


def faithful() -> dict[str, Path]:
    """Studies whose teacher's time-outs cut its episodes, as in the authors' training: the main one and all further."""
    return {MAIN: ROOT / "results"} | _further("faithful_*")


def terminated() -> dict[str, Path]:
    """Studies whose teacher's time-outs ended its episodes, so that it was not drawn from where the others are."""
    return _further("terminated_*") | _further("seed_*")


def _further(pattern: str) -> dict[str, Path]:
    """Studies that lie among the teachers, where there is one, by the teacher's training seed."""
    studies = (path.parent for path in sorted(TEACHERS.glob(f"{pattern}/freeze.json")))
    return {path.name.rpartition("_")[2]: path for path in studies}


def rates_table(groups: Mapping[str, Group]) -> str:
    """Saves on the principal test, a row per teacher."""
    paper = [f"{found.value:.1f}" for name in POLICIES if (found := published.rate(name, BLACKOUT)) is not None]
    lines = [*_head([*POLICIES.values()]), _line("paper", paper)]
    for words, found in groups.items():
        lines.append(_line(f"*{words}*", [""] * len(POLICIES)))
        for teacher, one in found.items():
            lines.append(_line(teacher, [f"{100 * _rate(one, name):.1f}" for name in POLICIES]))
    return "\n".join(lines)


def students_table(groups: Mapping[str, Group]) -> str:
    """The least and the greatest saves of a family's students on the principal test."""
    families = {name: words for name, words in POLICIES.items() if name != "teacher"}
    lines = _head([*families.values()])
    for words, found in groups.items():
        lines.append(_line(f"*{words}*", [""] * len(families)))
        for teacher, one in found.items():
            held = _saves(one, "clean")
            spans = [_span(100 * held.at(name, BLACKOUT).mean(axis=1)) for name in families]
            lines.append(_line(teacher, spans))
    return "\n".join(lines)


def _span(values: np.ndarray) -> str:
    return f"{values.min():.1f} to {values.max():.1f}"


def differences_table(groups: Mapping[str, Group], split: str) -> str:
    """Planned differences on one test, by the method each study's plan names; noise beside the principal one."""
    noisy = [NOISY] if split == "principal_test" else []
    lines = _head([*PAIRS, *noisy])
    if split == "principal_test":
        lines.append(
            _line("paper", [*(_published(published.difference(*pair)) for pair in PAIRS.values()), PAPER_NOISE])
        )
    for words, found in groups.items():
        lines.append(_line(f"*{words}*", [""] * len([*PAIRS, *noisy])))
        for teacher, one in found.items():
            cells = [one.splits[split].principal.difference(*pair, BLACKOUT) for pair in PAIRS.values()]
            if noisy and one.noise:
                cells.append(one.noise.rates.difference("all", LINEAR, GATED, BLACKOUT, NOISE))
            lines.append(_line(teacher, [shown.points(cell.estimate, cell.low, cell.high) for cell in cells]))
    return "\n".join(lines)


def window_table(groups: Mapping[str, Group]) -> str:
    """Where the window stays behind: support shots alone, and how well students imitate."""
    shots = [(kind, player) for kind in ("alias", "support") for player in (WINDOW, LINEAR, "teacher")]
    heads = [f"{words}, {kind}" for kind in ("alias", "support") for words in ("window", "k = 0", "teacher")]
    heads += ["error, window", "error, k = 0"]
    printed = published.document()["subgroups"]
    paper = [f"{printed[group][policy][str(BLACKOUT)][0]:.1f}" for group, policy in shots]
    lines = [*_head(heads), _line("paper", [*paper, *PAPER_ERRORS])]
    for words, found in groups.items():
        lines.append(_line(f"*{words}*", [""] * len(heads)))
        for teacher, one in found.items():
            parts = one.splits["principal_test"].subgroups
            cells = [f"{100 * parts.rate(group, policy, BLACKOUT).estimate:.1f}" for group, policy in shots]
            lines.append(_line(teacher, [*cells, *(_errors(one, family) for family in (WINDOW, LINEAR))]))
    return "\n".join(lines)


def _errors(one: Analysis, family: str) -> str:
    """The least and greatest validation error of a family's finals."""
    best: dict[int, float] = {}
    for row in curve_table.read(one.results.root / curve_table.PLACE, "finals", family):
        best[row["seed"]] = min(row["validation_loss"], best.get(row["seed"], row["validation_loss"]))
    return f"{min(best.values()):.3f} to {max(best.values()):.3f}"


def noise_table(groups: Mapping[str, Group]) -> str:
    """Saves under 5 mm of noise."""
    players = {LINEAR: "k = 0", GATED: "GRU-64", "teacher": "teacher"}
    paper = [f"{found.value:.1f}" for name in players if (found := published.noise(name, BLACKOUT, 5)) is not None]
    lines = [*_head([*players.values(), "GRU-64, its students"]), _line("paper", [*paper, PAPER_GRUS])]
    for words, found in groups.items():
        lines.append(_line(f"*{words}*", [""] * (len(players) + 1)))
        for teacher, one in found.items():
            held = _saves(one, NOISE)
            cells = [f"{100 * held.at(name, BLACKOUT, NOISE).mean():.1f}" for name in players]
            lines.append(_line(teacher, [*cells, _span(100 * held.at(GATED, BLACKOUT, NOISE).mean(axis=1))]))
    return "\n".join(lines)


def hold_table(places: Mapping[str, Mapping[str, Path]]) -> str:
    """Alias shots saved where the arm was held until the window held no reading, under teachers that have this test."""
    players = {WINDOW: "window of ten", LINEAR: "k = 0", GATED: "GRU-64", "teacher": "teacher"}
    lines = _head([*players.values()])
    for words, found in places.items():
        lines.append(_line(f"*{words}*", [""] * len(players)))
        for teacher, folder in found.items():
            file = next((path for path in (folder / "memory" / HOLD, folder / HOLD) if path.is_file()), None)
            if file is not None:
                rows = [row for row in read_json(file)["rows"] if row["hidden_ms"] == HELD_MS]
                rates = {row["policy"]: row["rate"]["estimate"] for row in rows}
                lines.append(_line(teacher, [f"{100 * rates[name]:.1f}" for name in players]))
    return "\n".join(lines)


def over_table(groups: Mapping[str, Group]) -> str:
    """Differences with the teacher drawn by chance, where one more is to be expected, and where the paper's is.

    What docs/studies/faithful-teachers.toml asks of all its teachers is decided here, with Holm's correction.
    """
    lines = _head(["mean", "verdict", "one more teacher", "paper", "as expected"])
    for words, found, planned in _taken_together(groups):
        lines.append(_line(f"*{words}: {len(found)} teachers*", [""] * 5))
        asked = [*_asked()]
        studies = {one.condition: [_saves(study, one.condition) for study in found.values()] for one in asked}
        means = adjust(
            over_teachers(studies[one.condition], one.a, one.b, BLACKOUT, disturbance=one.condition) for one in asked
        )
        for one, mean in zip(asked, means, strict=True):
            low, high = next_teacher([_difference(held, one) for held in studies[one.condition]])
            said = verdict(Verdict("", one.words, one.claim, "", decide(one.claim, mean), mean)).text
            cells = [
                shown.points(mean.estimate, mean.low, mean.high),
                f"{one.claim} {said}" if planned else "not planned",
                f"{100 * low:+.1f} to {100 * high:+.1f}",
                f"{one.paper:+.1f}",
                "yes" if 100 * low <= one.paper <= 100 * high else "no",
            ]
            lines.append(_line(one.words, cells))
    return "\n".join(lines)


def _taken_together(groups: Mapping[str, Group]) -> Iterator[tuple[str, Group, bool]]:
    """Teachers over which something is said, in words, and whether their plan asked it."""
    cut = groups[CUT]
    able = {name: one for name, one in cut.items() if _rate(one, "teacher") >= ABLE}
    if len(cut) == PLANNED:
        yield CUT, cut, True
        if len(able) < len(cut):
            yield f"asked afterwards: those of them that save {ABLE:.0%} themselves", able, False
    yield ENDED, groups[ENDED], False


def _rate(one: Analysis, policy: str) -> float:
    return one.splits["principal_test"].principal.rate(policy, BLACKOUT).estimate


def prints_table() -> str:
    """Rank correlations of fingerprints with the window's deficit, as the main study's report has them."""
    report = (ROOT / "results/report/tables/teacher-correlations.md").read_text("utf-8")
    return "\n".join(line for line in report.splitlines() if line.startswith("|"))


def _head(columns: Sequence[str]) -> list[str]:
    return [_line("", columns), f"|---{'|---' * len(columns)}|"]


def _line(first: str, cells: Sequence[str]) -> str:
    return f"| {' | '.join((first, *cells))} |"


def _asked() -> Iterator[Question]:
    for words, (a, b) in PAIRS.items():
        paper = published.difference(a, b)
        assert paper is not None
        claim = "equivalence" if (a, b) == (GATED, LINEAR) else "superiority"
        yield Question(words, claim, a, b, "clean", paper.value)
    yield Question(NOISY, "superiority", LINEAR, GATED, NOISE, float(PAPER_NOISE.split()[0]))


def _difference(held: Saves, one: Question) -> float:
    rates = [held.at(policy, BLACKOUT, one.condition).mean() for policy in (one.a, one.b)]
    return float(rates[0] - rates[1])


def _saves(one: Analysis, condition: str) -> Saves:
    if condition == "clean":
        return one.splits["principal_test"].saves
    assert one.noise is not None
    return one.noise.saves


def _published(found: Estimate | None) -> str:
    return "" if found is None else f"{found.value:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


def places() -> dict[str, dict[str, Path]]:
    """Results of every study, by how its teacher's time-outs counted and by its teacher."""
    return {CUT: faithful(), ENDED: terminated()}


def studies() -> dict[str, dict[str, Analysis]]:
    """Every study's analysis."""
    return {
        words: {name: analyse(read_results(folder)) for name, folder in found.items()}
        for words, found in places().items()
    }


def page(text: str, found: Mapping[str, Group]) -> str:
    """The page with all its tables."""
    for name, table in (
        ("rates", rates_table(found)),
        ("students", students_table(found)),
        ("differences", differences_table(found, "principal_test")),
        ("sealed", differences_table(found, "sealed_test")),
        ("window", window_table(found)),
        ("held arms", hold_table(places())),
        ("noise", noise_table(found)),
        ("over teachers", over_table(found)),
        ("fingerprints", prints_table()),
    ):
        text = shown.between(text, name, table)
    return text


def main() -> None:
    """Write the page's tables."""
    write_whole(PAGE, page(PAGE.read_text("utf-8"), studies()))


if __name__ == "__main__":
    sys.exit(main())
