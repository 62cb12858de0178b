"""The tables of docs/findings.md: one study per teacher, beside the paper's."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import shown

from blindsave.evidence.intervals import Contrast
from blindsave.evidence.mrmc import next_teacher, over_teachers
from blindsave.evidence.saves import Saves
from blindsave.report import published
from blindsave.report.analysis import Analysis, analyse
from blindsave.report.results import read_results
from blindsave.report.sheet import Estimate
from blindsave.store import write_whole

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "findings.md"
STUDIES = {
    "shipped (7303)": ROOT / "results",
    "7304": ROOT / "results" / "teachers" / "seed_7304",
    "7305": ROOT / "results" / "teachers" / "seed_7305",
}
FAITHFUL = {"faithful 7303": ROOT / "results" / "main" / "faithful_7303"}
"""Trained otherwise (time-outs cut episodes), so not drawn from where the others were."""
POLICIES = {
    "teacher": "teacher",
    "feed_forward": "no memory",
    "finite_stack_10": "window of ten",
    "structured_k0": "linear memory (k = 0)",
    "gru_n64": "gated unit (GRU-64)",
}
PAIRS = {
    "linear - none": ("structured_k0", "feed_forward"),
    "linear - window": ("structured_k0", "finite_stack_10"),
    "gated - linear": ("gru_n64", "structured_k0"),
}
BLACKOUT, NOISE = 20, "noise_5mm"
PAPER_NOISE = "+5.6 [+2.8, +9.0]"
"""Of the paper's text, which has no table of it."""


def rates_table(found: Mapping[str, Analysis]) -> str:
    """Saves on the principal test."""
    lines = [f"| | paper | {' | '.join(found)} |", f"|---|---{'|---' * len(found)}|"]
    for policy, words in POLICIES.items():
        rates = [one.splits["principal_test"].principal.rate(policy, BLACKOUT).estimate for one in found.values()]
        paper = published.rate(policy, BLACKOUT)
        assert paper is not None
        lines.append(f"| {words} | {paper.value:.1f} | {' | '.join(f'{100 * rate:.1f}' for rate in rates)} |")
    return "\n".join(lines)


def differences_table(found: Mapping[str, Analysis]) -> str:
    """Planned differences on both tests, by the method each study's plan names; the noise test last."""
    return "\n".join([f"| | paper | {' | '.join(found)} |", f"|---|---{'|---' * len(found)}|", *_differences(found)])


def _differences(found: Mapping[str, Analysis]) -> Iterator[str]:
    for words, (a, b) in PAIRS.items():
        for split, first in (("principal_test", words), ("sealed_test", "sealed")):
            cells = [one.splits[split].principal.difference(a, b, BLACKOUT) for one in found.values()]
            paper = _published(published.difference(a, b)) if split == "principal_test" else ""
            yield _row(first, paper, cells)
    pair = ("structured_k0", "gru_n64")
    noisy = [one.noise.rates.difference("all", *pair, BLACKOUT, NOISE) for one in found.values() if one.noise]
    yield _row("linear - gated, 5 mm noise", PAPER_NOISE, noisy)


def over_table(found: Mapping[str, Analysis]) -> str:
    """Differences with the teacher drawn by chance, where one more is to be expected, and where the paper's is."""
    head = f"| over {len(found)} teachers | mean | one more teacher | paper | as expected |"
    lines = [head, "|---|---|---|---|---|"]
    for words, a, b, condition, paper in _asked():
        held = [_saves(one, condition) for one in found.values()]
        mean = over_teachers(held, a, b, BLACKOUT, disturbance=condition)
        each = [one.at(a, BLACKOUT, condition).mean() - one.at(b, BLACKOUT, condition).mean() for one in held]
        low, high = next_teacher([float(value) for value in each])
        inside = "yes" if 100 * low <= paper <= 100 * high else "no"
        cells = (shown.points(mean.estimate, mean.low, mean.high), f"{100 * low:+.1f} to {100 * high:+.1f}")
        lines.append(f"| {words} | {' | '.join(cells)} | {paper:+.1f} | {inside} |")
    return "\n".join(lines)


def _asked() -> Iterator[tuple[str, str, str, str, float]]:
    """Name, both families, condition and what the paper has, in points."""
    for words, (a, b) in PAIRS.items():
        paper = published.difference(a, b)
        assert paper is not None
        yield words, a, b, "clean", paper.value
    yield "linear - gated, 5 mm noise", "structured_k0", "gru_n64", NOISE, float(PAPER_NOISE.split()[0])


def _saves(one: Analysis, condition: str) -> Saves:
    if condition == "clean":
        return one.splits["principal_test"].saves
    assert one.noise is not None
    return one.noise.saves


def _row(first: str, paper: str, cells: list[Contrast]) -> str:
    told = (shown.points(one.estimate, one.low, one.high) for one in cells)
    return f"| {first} | {paper} | {' | '.join(told)} |"


def _published(found: Estimate | None) -> str:
    return "" if found is None else f"{found.value:+.1f} [{found.low:+.1f}, {found.high:+.1f}]"


def main() -> None:
    """Write the page's tables."""
    found = {name: analyse(read_results(folder)) for name, folder in (STUDIES | FAITHFUL).items()}
    page = shown.between(PAGE.read_text("utf-8"), "rates", rates_table(found))
    page = shown.between(page, "differences", differences_table(found))
    write_whole(PAGE, shown.between(page, "over teachers", over_table({name: found[name] for name in STUDIES})))


if __name__ == "__main__":
    sys.exit(main())
