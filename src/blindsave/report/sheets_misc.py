"""Tables of the noise extension, the memory tests, costs beside the paper's, and the record of the study."""

from blindsave.evidence.paired import mcnemar
from blindsave.evidence.strata import NOISE_PAIRS
from blindsave.report.analysis import Analysis, percent
from blindsave.report.claims import pair
from blindsave.report.names import condition, milliseconds, ordered, title
from blindsave.report.published import COST_FIELDS, cost, memory, noise
from blindsave.report.results import Results
from blindsave.report.sheet import Cell, Column, Number, Sheet
from blindsave.store import sha256_file

NOISE_GROUPS = ("all", "alias", "support")
COST_TITLES = ("Parameters", "Core params", "Carried (B)", "Recurrent (B)", "MACs", "Latency (µs)", "Latency p95 (µs)")


def noise_rates(analysis: Analysis, name: str = "noise") -> Sheet | None:
    """The paper's noise table."""
    held, rates = analysis.noise_saves, analysis.noise
    if held is None or rates is None:
        return None
    levels = sorted(held.disturbances, key=sigma_mm)
    cells = [(n, d) for n in held.blackouts for d in levels]
    columns = (
        Column("policy", "Policy / σ (mm)"),
        *(Column(f"save_{n}_{d}", f"{sigma_mm(d):g}", _blackout_title(n)) for n, d in cells),
    )
    rows = []
    for policy in ordered(held.saved):
        rows.append((title(policy), *(percent(rates.rate("all", policy, n, d)) for n, d in cells)))
        theirs = [noise(policy, n, sigma_mm(d)) for n, d in cells]
        if any(theirs):
            rows.append(("    paper", *theirs))
    caption = (
        f"Save rates (%) on {len(held.shot_ids)} fresh shots, without retraining. σ is the standard deviation of the "
        f"noise on every visible puck position, per axis. Pointwise 95 % intervals, {rates.how}."
    )
    return Sheet(name, "Sensitivity to puck-position noise", caption, columns, tuple(rows))


def noise_contrasts(analysis: Analysis, name: str = "noise-contrasts") -> Sheet | None:
    """Differences under noise, and what noise does to each policy."""
    held, rates = analysis.noise_saves, analysis.noise
    if held is None or rates is None:
        return None
    groups = [group for group in NOISE_GROUPS if group in rates.points]
    columns = (
        Column("contrast", "Difference"),
        Column("condition", "Condition"),
        *(Column(group, f"{group.capitalize()} shots") for group in groups),
    )
    levels = [d for d in sorted(held.disturbances, key=sigma_mm) if d != "clean"]
    rows: list[tuple[Cell, ...]] = []
    for n in held.blackouts:
        for d in sorted(held.disturbances, key=sigma_mm):
            for a, b in NOISE_PAIRS:
                if {a, b} <= held.saved.keys():
                    cells = (percent(rates.difference(group, a, b, n, d), True) for group in groups)
                    rows.append((pair(a, b), condition(n, d), *cells))
    for policy in ordered(held.saved) if "clean" in held.disturbances else ():
        for n in held.blackouts:
            for d in levels:
                cells = (percent(rates.noise_effect(group, policy, n, d), True) for group in groups)
                rows.append((f"{title(policy)}: noisy − clean", condition(n, d), *cells))
    caption = "Percentage points with pointwise 95 % intervals, without adjustment."
    return Sheet(name, "Differences under noise", caption, columns, tuple(rows))


def memory_tests(analysis: Analysis, name: str = "memory") -> Sheet | None:
    """Teacher against itself without state, and against a policy without memory."""
    if not analysis.memory:
        return None
    columns = (
        Column("test", "Compared with the teacher"),
        Column("blackout_ms", "Hidden (ms)"),
        Column("teacher", "Teacher (%)"),
        Column("other", "Other (%)"),
        Column("difference", "Difference (95 % CI)"),
        Column("paper", "Paper"),
        Column("only_teacher", "Only teacher saved"),
        Column("only_other", "Only other saved"),
    )
    rows: list[tuple[Cell, ...]] = []
    for other, members in analysis.memory.items():
        held = analysis.memory_saves[other]
        for i, c in enumerate(members):
            rates = [Number(100 * float(held.at(policy, c.blackout).mean())) for policy in (c.a, other)]
            theirs = memory(other, c.blackout)
            count = mcnemar(held, c.a, other, c.blackout)[0]
            rows.append(
                (
                    title(other) if i == 0 else "",
                    milliseconds(c.blackout),
                    *rates,
                    percent(c, True),
                    None if theirs is None else theirs[2],
                    count.only_a,
                    count.only_b,
                )
            )
    caption = (
        f"Same {len(next(iter(analysis.memory_saves.values())).shot_ids)} shots for both; 95 % intervals from a "
        "paired bootstrap over episodes. Erasing the state changes nothing where the puck is never hidden."
    )
    return Sheet(name, "Does the task need memory?", caption, columns, tuple(rows))


def costs(analysis: Analysis, name: str = "costs") -> Sheet | None:
    """Sizes and latency beside the paper's."""
    families = analysis.results.costs.families
    if not families:
        return None
    columns = (
        Column("family", "Family"),
        Column("source", "Source"),
        *(Column(field, head) for field, head in zip(COST_FIELDS, COST_TITLES, strict=True)),
    )
    rows: list[tuple[Cell, ...]] = []
    for family in ordered(families):
        ours, theirs = families[family], cost(family)
        timing = ours.timing
        times = (None, None) if timing is None else (timing.median_us, timing.p95_us)
        sizes = [getattr(ours, field) for field in COST_FIELDS[:5]]
        rows.append((title(family), "ours", *sizes, *(None if t is None else Number(t, 2) for t in times)))
        if theirs:
            cells = [int(theirs[field]) for field in COST_FIELDS[:5]]
            rows.append(("", "paper", *cells, *(Number(theirs[field], 2) for field in COST_FIELDS[5:])))
    machine = analysis.results.costs.machine.get("cpu")
    where = f"Our latency: {machine}. " if machine else ""
    caption = f"{where}The paper's: one pinned core of an Intel Core Ultra 9 285, mixed implementations."
    return Sheet(name, "What a family costs", caption, columns, tuple(rows))


def deviations(analysis: Analysis, name: str = "deviations") -> Sheet | None:
    """What was planned one way and done another."""
    if not analysis.deviations:
        return None
    columns = (
        Column("what", "What", words=True),
        Column("planned", "Planned", words=True),
        Column("done", "Done", words=True),
    )
    rows = tuple((d.what, _words(d.planned), _words(d.done)) for d in analysis.deviations)
    caption = "Computed from the plan, the tables and the ledger."
    return Sheet(name, "Deviations from the plan", caption, columns, rows)


def ledger(results: Results, name: str = "ledger") -> Sheet | None:
    """Every entry of the ledger."""
    if not results.entries:
        return None
    columns = (
        Column("index", "Entry"),
        Column("time", "Time (UTC)"),
        Column("kind", "Event"),
        Column("content", "Says", words=True),
        Column("sha256", "SHA-256"),
    )
    rows = tuple(
        (str(e.index), e.time.replace("+00:00", "").replace("T", " "), e.kind, _says(e.content), e.sha256[:16] + "…")
        for e in results.entries
    )
    said = results.verification.sentence if results.verification else ""
    caption = f"Append-only; every line carries the hash of the line before it. {said}".strip()
    return Sheet(name, "Ledger of freeze and release", caption, columns, rows)


def sources(results: Results, name: str = "files") -> Sheet:
    """The files this report was made of, by hash."""
    columns = (Column("holds", "Holds"), Column("file", "File", words=True), Column("sha256", "SHA-256", words=True))
    rows = tuple(
        (what if i == 0 else "", _relative(results, path), sha256_file(path))
        for what, paths in sorted(results.files.items())
        for i, path in enumerate(paths)
    )
    return Sheet(name, "Files this page was made of", "Nothing else went into it.", columns, rows)


def sigma_mm(disturbance: str) -> float:
    """The noise level of a disturbance named `clean` or `noise_5mm`; infinity for any other."""
    if disturbance == "clean":
        return 0.0
    digits = disturbance.removeprefix("noise_").removesuffix("mm")
    try:
        return float(digits)
    except ValueError:
        return float("inf")


def _blackout_title(blackout: int) -> str:
    return "No blackout" if blackout == 0 else f"{milliseconds(blackout)} ms blackout"


def _words(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def _says(content: object) -> str:
    """A ledger entry's scalar facts; long hashes shortened, tables counted."""
    if not isinstance(content, dict):
        return str(content)
    parts = []
    for key, value in content.items():
        words = key.replace("_", " ")
        if isinstance(value, str):
            parts.append(f"{words} {value[:16] + '…' if len(value) == 64 else value}")
        elif isinstance(value, int | float):
            parts.append(f"{words} {value}")
        elif isinstance(value, dict) and key in ("tables", "grids"):
            parts.append(f"{words}: {', '.join(value)}")
    return "; ".join(parts)


def _relative(results: Results, path: object) -> str:
    from pathlib import Path

    place = Path(str(path))
    root = results.root
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else place.name
