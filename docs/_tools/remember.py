"""Ship the memory-horizon study, and write what docs/remember.md shows of it and of the reference cores.

With the folder of `blindsave remember train`, frozen and released, the study is copied to results/remember/horizon and
models/remember/horizon; then, and without a folder only, tables and pictures are made again from what is shipped.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from shown import between, picture, points

from blindsave.benchmark import figures, horizon_plate, readings, references
from blindsave.benchmark.budget import STANDARD
from blindsave.diagnostics import horizon
from blindsave.draw.policy_looks import looks
from blindsave.evidence import tables
from blindsave.evidence.plan import load_plan
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.registry import family
from blindsave.report.sheet import p_value
from blindsave.store import write_json, write_whole
from blindsave.verify.study import require_verified

ROOT = Path(__file__).resolve().parents[2]
RESULTS, MODELS = ROOT / "results" / "remember", ROOT / "models" / "remember"
STUDY, STUDENTS = RESULTS / "horizon", MODELS / "horizon"
PAGE, IMAGES = ROOT / "docs" / "remember.md", ROOT / "docs" / "images"
IN_README = ("feed_forward", "finite_stack_10", "finite_stack_20", "structured_k0", "gru_n64", "planner")
HOLDS = ("0 ms", "100 ms", "200 ms", "300 ms", "400 ms")


def ship(run: Path) -> None:
    """Copy a released study to where further studies lie."""
    require_verified(run)
    for target in (STUDY, STUDENTS):
        shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(run / "results", STUDY, ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(run / "models", STUDENTS)
    shutil.copy(run / "protocol.toml", STUDY)


def horizon_table(curves: list[dict[str, Any]]) -> str:
    """Alias shots kept out by hold, with what is left of the one bit, and shots saved."""
    heads = ["policy", "parameters", *HOLDS, "horizon", "bits at 400 ms", "alias saved at 400 ms"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    by_policy: dict[str, list[dict[str, Any]]] = {}
    for one in curves:
        by_policy.setdefault(one["policy"], []).append(one)
    for name in [*load_plan(STUDY / "protocol.toml").families, *sorted(by_policy)]:
        if name not in by_policy:
            continue
        held = sorted(by_policy.pop(name), key=lambda one: one["hold"])
        kept = [one["alias_kept_out"]["estimate"] for one in held]
        points = [{"rate": rate} for rate in kept]
        reach = readings.horizon_ms({"hold_ms": [one["hold_ms"] for one in held], "alias_kept_out": points})
        last = held[-1]["alias_saved"]["estimate"]
        cells = [f"`{name}`", size(name), *(f"{100 * rate:.1f}" for rate in kept)]
        cells += [f"{reach} ms" if reach is not None else "none", f"{readings.bits(kept[-1]):.2f}", f"{100 * last:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def size(name: str) -> str:
    """Parameters of a family; a dash for policies that were never trained."""
    try:
        return f"{cost(family(name)).parameters:,}"
    except ValueError:
        return "-"


def verdict_table(found: dict[str, Any]) -> str:
    """What was asked and what came out."""
    lines = ["| hypothesis | points (95 %) | p | verdict |", "|---|---|---|---|"]
    for one in found["verdicts"]:
        contrast, equal = one["contrast"], one["kind"] == "equivalence"
        p = contrast["equivalence"]["p"] if equal else contrast["p_holm"]
        difference = points(*(contrast[key] for key in ("estimate", "low", "high")))
        lines.append(f"| {one['statement']} | {difference} | {p_value(p)} | {one['verdict']} |")
    return "\n".join(lines)


def reference_table(cores: list[dict[str, Any]]) -> str:
    """The reference cores of the benchmark."""
    heads = ["core", "parameters", *HOLDS, "horizon", "bits at 400 ms", "alias saved at 400 ms", "paper's task, 400 ms"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in cores:
        told = readings.summary(one)
        kept = " | ".join(f"{100 * point['rate']:.1f}" for point in one["horizon"]["alias_kept_out"])
        reach = "none" if told["horizon_ms"] is None else f"{told['horizon_ms']} ms"
        parameters = f"{told['parameters']:,}" if told["parameters"] else "-"
        last = one["horizon"]["alias_saved"][-1]["rate"]
        rates = [f"{told['bits'][-1]:.2f}", f"{100 * last:.1f}", f"{100 * told['saved']:.1f}"]
        lines.append(f"| {' | '.join(['`' + one['core'] + '`', parameters, kept, reach, *rates])} |")
    return "\n".join(lines)


def notebook_table() -> str:
    """Who goes by its memory and who by its arm."""
    found = json.loads((RESULTS / "notebook.json").read_text("utf-8"))
    keys = ("kept_out", "memories_exchanged", "twins_arm_shown")
    lines = ["| student | as it is | memories exchanged | its twin's arm shown |", "|---|---|---|---|"]
    for one in found["rows"]:
        rates = " | ".join(f"{100 * one[key] / one['shots']:.1f}" for key in keys)
        lines.append(f"| `{one['policy']}` | {rates} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    """Ship if asked to; then write figures, tables and pictures."""
    if arguments:
        ship(Path(arguments[0]).resolve())
    page = PAGE.read_text("utf-8")
    cores = references.read(references.file(), STANDARD)
    page = between(page, "references", reference_table(cores))
    shown = [one for one in cores if one["core"] in IN_README]
    picture(figures.plate(shown), IMAGES / "remember.png", looks(IN_README))
    if (STUDY / "test").is_dir():
        plan, rows = load_plan(STUDY / "protocol.toml"), tables.read(STUDY / "test" / "sealed_test.parquet")
        found: dict[str, Any] = {"curves": horizon.curves(rows), "verdicts": horizon.verdicts(plan, rows)}
        found["bars"] = horizon.bars(plan, found["curves"])
        write_json(STUDY / "curves.json", found)
        page = between(page, "horizon", horizon_table(found["curves"]))
        page = between(page, "verdicts", verdict_table(found))
        names = {one["policy"] for one in found["curves"]}
        picture(horizon_plate.plate(found["curves"]), IMAGES / "horizon.png", looks(names), colours=256)
    if (RESULTS / "notebook.json").is_file():
        page = between(page, "notebook", notebook_table())
    write_whole(PAGE, page)


if __name__ == "__main__":
    main(sys.argv[1:])
