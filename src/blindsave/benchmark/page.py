"""The benchmark as one page without any other file: a core's curves beside those of the references."""

import html
from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from blindsave import __version__
from blindsave.benchmark import figures
from blindsave.benchmark.budget import Budget
from blindsave.benchmark.readings import ENOUGH, bits, summary
from blindsave.draw.policy_looks import Look, family_words
from blindsave.report.figures.export import css, inline

Found = Mapping[str, Any]
HEADINGS = {
    "kept_out": (
        "How long can it remember?",
        "An arm that is held cannot keep the answer: what is kept out, the core remembered. Half is chance.",
    ),
    "saved_held": (
        "The same, counted as saves",
        "A shot that is kept out but neither returned nor stopped in time is no save.",
    ),
    "paper": ("The paper's task", "The arm is free after 100 ms; the puck is hidden for a while."),
    "faults": (
        "When the tracker does something else wrong",
        "The paper's task with a blackout of 400 ms and one fault more.",
    ),
}


def page(own: Sequence[Found], references: Sequence[Found], budget: Budget) -> str:
    """The whole page; equal figures give equal bytes."""
    names = [one["core"] for one in own]
    cores = [*own, *(one for one in references if one["core"] not in names)]
    drawn = figures.looks_of(cores)
    light, dark = css(drawn)
    blocks = []
    for key, panel in zip(HEADINGS, figures.panels(cores, names), strict=True):
        heading, words = HEADINGS[key]
        blocks.append(
            f"<section><h2>{html.escape(heading)}</h2><p>{html.escape(words)}</p>"
            f"<figure>{inline(panel, drawn)}</figure></section>"
        )
    return Template((files("blindsave.benchmark") / "page.html").read_text("utf-8")).substitute(
        light=light,
        dark=dark,
        title=html.escape(", ".join(map(family_words, names))),
        tiles="".join(_tiles(one) for one in own),
        figures="".join(blocks),
        legend=_legend(cores, drawn),
        table=_table(cores, names),
        budget=html.escape(_words(budget)),
        version=html.escape(__version__),
    )


def _tiles(one: Found) -> str:
    told = summary(one)
    reach = "none" if told["horizon_ms"] is None else f"{told['horizon_ms']} ms"
    tiles = [
        (reach, f"memory horizon: {ENOUGH:.0%} of alias shots kept out"),
        (f"{told['bits'][-1]:.2f} bit", f"of the side is left after {one['horizon']['hold_ms'][-1]} ms"),
        (f"{told['saved']:.1%}", f"saved in the paper's task, {told['hidden_ms']} ms hidden"),
        (f"{told['worst_fault_saved']:.1%}", f"saved under the worst fault, {told['worst_fault'].replace('_', ' ')}"),
    ]
    cells = "".join(
        f"<div><b>{html.escape(value)}</b><span>{html.escape(words)}</span></div>" for value, words in tiles
    )
    size = f"{told['parameters']:,} parameters, {told['carry_bytes']:,} bytes carried" if told["parameters"] else ""
    said, name = html.escape(family_words(one["core"])), html.escape(one["core"])
    heading = f"<h2>{said} <small><code>{name}</code> {size}</small></h2>"
    return f"{heading}<div class=tiles>{cells}</div>"


def _legend(cores: Sequence[Found], drawn: Mapping[str, Look]) -> str:
    items = []
    for one in cores:
        look = drawn[one["core"]]
        swatch = f'<i style="--l:{look.light};--d:{look.dark}"></i>'
        items.append(f"<li>{swatch}{html.escape(family_words(one['core']))}</li>")
    return f"<ul class=legend>{''.join(items)}</ul>"


def _table(cores: Sequence[Found], own: Sequence[str]) -> str:
    holds = cores[0]["horizon"]["hold_ms"]
    heads = [
        "core",
        "horizon",
        *(f"kept out, {hold} ms" for hold in holds),
        f"bits, {holds[-1]} ms",
        "saved, 400 ms hidden",
    ]
    rows = []
    for one in cores:
        told = summary(one)
        kept = [point["rate"] for point in one["horizon"]["alias_kept_out"]]
        reach = "none" if told["horizon_ms"] is None else f"{told['horizon_ms']} ms"
        cells = [reach, *(f"{100 * rate:.1f}" for rate in kept), f"{bits(kept[-1]):.2f}", f"{100 * told['saved']:.1f}"]
        inner = "".join(
            f'<td data-head="{html.escape(head)}">{cell}</td>' for head, cell in zip(heads[1:], cells, strict=True)
        )
        mark = " class=own" if one["core"] in own else ""
        rows.append(f"<tr{mark}><th scope=row>{html.escape(family_words(one['core']))}</th>{inner}</tr>")
    top = "".join(f"<th scope=col>{html.escape(head)}</th>" for head in heads)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _words(budget: Budget) -> str:
    return (
        f"Every core, the references too, learned each task from {budget.base_episodes} episodes of a teacher and"
        f" {budget.own_episodes} of its own, in {budget.recipe.epochs} epochs, once for each of {len(budget.seeds)}"
        f" training seeds, and then met one unit in {budget.every} of the {budget.split} shots. Curves are means, short"
        " dashes single training seeds; benchmark.json has the intervals. The budget is small on purpose: a core that"
        " needs more shows it here."
    )
