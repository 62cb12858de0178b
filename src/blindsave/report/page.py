"""One HTML page with everything in it: no network, no other file."""

import html
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template
from typing import Any

from blindsave import __version__
from blindsave.draw.policy_looks import look
from blindsave.report import summary
from blindsave.report.analysis import Analysis, percent
from blindsave.report.claims import Finding
from blindsave.report.figures.export import Plate, css, inline
from blindsave.report.figures.style import variables
from blindsave.report.names import milliseconds, ordered, title
from blindsave.report.published import document
from blindsave.report.sheet import Sheet, to_html

HEADING = "Which memory does a blind save take?"
LEAD = (
    "A robot defends its goal in air hockey. One tenth of a second after the shot, it loses sight of the puck. "
    "This page compares what goalkeepers with different kinds of memory make of what they saw."
)
Sheets = Mapping[str, Sheet]


def page(analysis: Analysis, sheets: Sheets, plates: Iterable[Plate], found: list[Finding]) -> str:
    """The whole document as text."""
    drawn = {plate.name: _plate(plate) for plate in plates}
    sections = _sections(analysis, sheets, drawn, found)
    light, dark = css()
    style = _asset("report.css").replace("$light", light).replace("$dark", dark)
    links = "".join(f'<li><a href="#{name}">{html.escape(short)}</a></li>' for name, short, _, _ in sections)
    body = "".join(
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{html.escape(head)}</h2>{inner}</section>'
        for name, _, head, inner in sections
    )
    plan = analysis.results.plan
    return Template(_asset("report.html")).substitute(
        title=html.escape(f"{plan.title if plan else HEADING} · blindsave report"),
        css=style,
        heading=html.escape(plan.title if plan else HEADING),
        lead=html.escape(LEAD),
        links=links,
        sections=body,
        footer=html.escape(f"Made by blindsave {__version__} (`blindsave report`) from the files listed above."),
        replays=_replays(analysis.results.replays),
        script=_asset("report.js"),
    )


def _sections(
    analysis: Analysis, sheets: Sheets, drawn: Mapping[str, str], found: list[Finding]
) -> list[tuple[str, str, str, str]]:
    """(id, link, heading, content) of every section."""
    record = _record(analysis, sheets)
    return [
        ("summary", "Summary", "In short", _summary(analysis, found)),
        ("paper", "Paper v. ours", "The paper's claims and our results", _paper(sheets, drawn)),
        (
            "task",
            "Task",
            "Does the task need memory?",
            drawn.get("figure-1", "") + _or_missing(sheets, ["memory"], "The memory tests are not recorded yet."),
        ),
        ("results", "Results", "How many shots are saved", _principal(sheets, drawn)),
        (
            "cost",
            "Cost",
            "What it costs",
            drawn.get("figure-4", "") + _or_missing(sheets, ["costs"], "No family of the registry is in the tables."),
        ),
        (
            "noise",
            "Noise",
            "With noise on the puck's position",
            drawn.get("figure-noise", "")
            + _or_missing(sheets, ["noise"], "The noise extension is not recorded yet.")
            + _folded(sheets, ["noise-contrasts"]),
        ),
        ("failures", "Failures", "Watch it fail", _player(analysis.results.replays)),
        ("protocol", "Protocol", "Plan, deviations and ledger", record),
        ("files", "Files", "What this page was made of", _tables(sheets, ["files"])),
    ]


def _summary(analysis: Analysis, found: list[Finding]) -> str:
    said = summary.sentences(analysis, found)
    parts = [f'<p class="notice">{html.escape(analysis.results.statement)}</p>'] if analysis.results.statement else []
    parts += [_bars(analysis)]
    if said:
        parts.append(f'<ul class="plain">{"".join(f"<li>{html.escape(s)}</li>" for s in said)}</ul>')
    else:
        parts.append("<p>No test has been recorded yet.</p>")
    if analysis.results.missing:
        items = "".join(f"<li>{html.escape(item)}</li>" for item in analysis.results.missing)
        parts.append(f'<div class="missing"><strong>Not recorded yet</strong><ul>{items}</ul></div>')
    return "".join(parts)


def _bars(analysis: Analysis) -> str:
    test = analysis.main
    if test is None or analysis.endpoint not in test.saves.blackouts:
        return ""
    rows = []
    for policy in ordered(test.saves.saved):
        rate = percent(test.principal.rate(policy, analysis.endpoint))
        colour = next(name for name, (drawn, _, _) in variables().items() if drawn == look(policy).light)
        rows.append(
            f'<div class="bar"><span>{html.escape(title(policy))}</span><span class="track">'
            f'<i style="width:{rate.value:.1f}%;--c:var({colour})"></i></span><b>{rate.point} %</b></div>'
        )
    head = f"Shots saved with the puck hidden for {milliseconds(analysis.endpoint)} ms"
    return f'<div class="bars"><p>{head}</p>{"".join(rows)}</div>'


def _paper(sheets: Sheets, drawn: Mapping[str, str]) -> str:
    source = f"{document()['authors']}: “{document()['title']}”."
    shown = _tables(sheets, ["claims"]) + drawn.get("figure-paper-versus-ours", "")
    return f"<p>{html.escape(source)}</p>{shown}" + _folded(sheets, ["paper-versus-ours"])


def _principal(sheets: Sheets, drawn: Mapping[str, str]) -> str:
    shown = drawn.get("figure-3", "") + _or_missing(
        sheets, ["table-1", "save-rates", "contrasts"], "No test is recorded yet."
    )
    more = ["subgroups", "subgroup-contrasts", "sealed", "seeds", "outcomes", "teacher-gaps", "action-error", "power"]
    more += ["validation-rates"]
    return shown + _folded(sheets, more)


def _record(analysis: Analysis, sheets: Sheets) -> str:
    plan, notes = analysis.results.plan, analysis.results.notes.strip()
    parts = []
    if plan is None:
        parts.append(_missing("No analysis plan (protocol.toml) lies with these results."))
    else:
        parts.append(_tables(sheets, ["hypotheses"]))
        parts.append(_tables(sheets, ["deviations"]) or "<p>Nothing was done otherwise than planned.</p>")
    if notes:
        parts += ["<h3>Deviations in words</h3>", *(f"<p>{html.escape(block)}</p>" for block in notes.split("\n\n"))]
    parts.append(_or_missing(sheets, ["ledger"], "No ledger lies with these results: nothing was frozen or released."))
    if plan is not None:
        text = html.escape(plan.path.read_text(encoding="utf-8"))
        parts.append(
            f"<details><summary>The whole plan (protocol.toml)</summary><pre tabindex=0>{text}</pre></details>"
        )
    return "".join(parts)


def _player(replays: Mapping[str, Any] | None) -> str:
    if not replays or not replays["scenes"]:
        return _missing("No failures are recorded yet; `blindsave report --record` plays some again and keeps them.")
    return (
        "<p>Recorded episodes from above, beside another goalkeeper on the same shot. The robot stands on the left; "
        "the mallet is held for the first 0.1 s. While the puck is dashed, the goalkeeper cannot see it.</p>"
        '<div class="player"><div class="controls"><select aria-label="Episode"></select>'
        '<button type="button" class="play">Play</button><button type="button" class="slow">1× speed</button>'
        '<input type="range" min="0" max="1" value="0" step="20" aria-label="Time"></div><div class="lanes"></div>'
        '<ul class="key"><li class="seen">puck, seen</li><li class="blind">puck, hidden</li>'
        '<li class="keeper">mallet</li></ul></div>'
    )


def _replays(replays: Mapping[str, Any] | None) -> str:
    """The replay document with titles, safe inside a script element."""
    if not replays:
        return "null"
    scenes = [
        scene | {"lanes": [lane | {"title": title(lane["policy"])} for lane in scene["lanes"]]}
        for scene in replays["scenes"]
    ]
    return json.dumps({"scenes": scenes}, separators=(",", ":")).replace("<", "\\u003c")


def _plate(plate: Plate) -> str:
    wide = {panel.name for row in plate.rows for panel in row if len(row) == 1}
    panels = "".join(f"<div{' class=wide' if p.name in wide else ''}>{inline(p)}</div>" for p in plate.panels)
    name = plate.name.replace("-", " ").capitalize() if plate.name[-1].isdigit() else "Figure"
    caption = f"<strong>{name}. {html.escape(plate.title)}.</strong> {html.escape(plate.caption)}"
    inner = f'<div class="panels">{panels}</div><figcaption>{caption}</figcaption>'
    return f'<figure class="plate n{len(plate.panels)}" id="{plate.name}">{inner}</figure>'


def _tables(sheets: Sheets, names: Iterable[str]) -> str:
    return "".join(to_html(sheets[name]) for name in names if name in sheets)


def _or_missing(sheets: Sheets, names: Iterable[str], sentence: str) -> str:
    return _tables(sheets, names) or _missing(sentence)


def _folded(sheets: Sheets, names: Iterable[str]) -> str:
    return "".join(
        f"<details><summary>{html.escape(sheets[name].title)}</summary>{to_html(sheets[name])}</details>"
        for name in names
        if name in sheets
    )


def _missing(sentence: str) -> str:
    return f'<p class="missing">{html.escape(sentence)}</p>'


def _asset(name: str) -> str:
    return files("blindsave.report").joinpath("page", name).read_text(encoding="utf-8")
