"""One HTML page with everything in it: no network, no other file."""

import html
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from blindsave import __version__
from blindsave.report import summary
from blindsave.report.analysis import Analysis, percent
from blindsave.report.claims import Finding
from blindsave.report.figures.export import Looks, Plate, css, inline
from blindsave.report.figures.style import variables
from blindsave.report.names import milliseconds, ordered, title
from blindsave.report.published import document
from blindsave.report.sheet import Sheet, to_html

HEADING = "Which memory does a blind save take?"
LEAD = (
    "A robot defends its goal in air hockey. One tenth of a second after the shot, it loses sight of the puck. "
    "This page compares what goalkeepers with different kinds of memory make of what they saw."
)


@dataclass(frozen=True)
class Content:
    """What there is to show."""

    analysis: Analysis
    found: list[Finding]
    sheets: Mapping[str, Sheet]
    plates: tuple[Plate, ...]


@dataclass(frozen=True)
class Section:
    """A section of the page: by default its figures, its tables, and below them the folded ones."""

    name: str
    link: str
    heading: str
    missing: str = ""
    """Said where there is no table."""
    content: Callable[[Content], str] | None = None
    """What is shown in place of all that."""
    lead: Callable[[], str] = str
    figures_last: bool = False

    def html(self, content: Content) -> str:
        """The section as an element."""
        head = f'<h2 id="{self.name}-h">{html.escape(self.heading)}</h2>'
        inner = self._listing(content) if self.content is None else self.content(content)
        return f'<section id="{self.name}" aria-labelledby="{self.name}-h">{head}{inner}</section>'

    def _listing(self, content: Content) -> str:
        own = [sheet for sheet in content.sheets.values() if sheet.section == self.name]
        tables = "".join(to_html(sheet) for sheet in own if not sheet.folded) or _missing(self.missing)
        figures = "".join(
            _plate(plate, content.analysis.looks) for plate in content.plates if plate.section == self.name
        )
        shown = tables + figures if self.figures_last else figures + tables
        return self.lead() + shown + "".join(_folded(sheet) for sheet in own if sheet.folded)


def page(analysis: Analysis, sheets: Mapping[str, Sheet], plates: Iterable[Plate], found: list[Finding]) -> str:
    """The whole document as text."""
    content = Content(analysis, found, sheets, tuple(plates))
    light, dark = css(analysis.looks)
    style = _asset("report.css").replace("$light", light).replace("$dark", dark)
    links = "".join(f'<li><a href="#{one.name}">{html.escape(one.link)}</a></li>' for one in SECTIONS)
    plan = analysis.results.plan
    return Template(_asset("report.html")).substitute(
        title=html.escape(f"{plan.title if plan else HEADING} · blindsave report"),
        css=style,
        heading=html.escape(plan.title if plan else HEADING),
        lead=html.escape(LEAD),
        links=links,
        sections="".join(section.html(content) for section in SECTIONS),
        footer=html.escape(f"Made by blindsave {__version__} (`blindsave report`) from the files listed above."),
        replays=_replays(analysis.results.replays),
        script=_asset("report.js"),
    )


def _summary(content: Content) -> str:
    analysis = content.analysis
    said = summary.sentences(analysis, content.found)
    parts = [f'<p class="notice">{html.escape(analysis.results.statement)}</p>'] if analysis.results.statement else []
    parts += [_verification(analysis), _bars(analysis)]
    if said:
        parts.append(f'<ul class="plain">{"".join(f"<li>{html.escape(s)}</li>" for s in said)}</ul>')
    else:
        parts.append("<p>No test has been recorded yet.</p>")
    if analysis.results.missing:
        items = "".join(f"<li>{html.escape(item)}</li>" for item in analysis.results.missing)
        parts.append(f'<div class="missing"><strong>Not recorded yet</strong><ul>{items}</ul></div>')
    return "".join(parts)


def _verification(analysis: Analysis) -> str:
    """What is wrong with the evidence, before anything that was made of it."""
    found = analysis.results.verification
    if found is None or found.ok:
        return ""
    items = "".join(f"<li>{html.escape(str(failure))}</li>" for failure in found.failures)
    return f'<div class="missing" role="alert"><strong>{html.escape(found.sentence)}</strong><ul>{items}</ul></div>'


def _bars(analysis: Analysis) -> str:
    test = analysis.main
    if test is None or analysis.endpoint not in test.saves.blackouts:
        return ""
    rows = []
    for policy in ordered(test.saves.saved):
        rate = percent(test.principal.rate(policy, analysis.endpoint))
        colour = next(
            name for name, (drawn, _, _) in variables(analysis.looks).items() if drawn == analysis.looks[policy].light
        )
        rows.append(
            f'<div class="bar"><span>{html.escape(title(policy))}</span><span class="track">'
            f'<i style="width:{rate.value:.1f}%;--c:var({colour})"></i></span><b>{rate.point} %</b></div>'
        )
    head = f"Shots saved with the puck hidden for {milliseconds(analysis.endpoint)} ms"
    return f'<div class="bars"><p>{head}</p>{"".join(rows)}</div>'


def _source() -> str:
    words = f"{document()['authors']}: “{document()['title']}”."
    return f"<p>{html.escape(words)}</p>"


def _record(content: Content) -> str:
    plan, notes = content.analysis.results.plan, content.analysis.results.notes.strip()
    tables = {name: to_html(sheet) for name, sheet in content.sheets.items() if sheet.section == "protocol"}
    parts = []
    if plan is None:
        parts.append(_missing("There is no analysis plan (protocol.toml) with these results."))
    else:
        parts.append(tables.get("hypotheses", ""))
        parts.append(tables.get("deviations", _as_planned(content.analysis)))
    if notes:
        parts += ["<h3>Deviations in words</h3>", *(f"<p>{html.escape(block)}</p>" for block in notes.split("\n\n"))]
    parts.append(tables.get("ledger", _missing("There is no ledger here: nothing was frozen or released.")))
    if plan is not None:
        text = html.escape(plan.path.read_text(encoding="utf-8"))
        parts.append(
            f"<details><summary>The whole plan (protocol.toml)</summary><pre tabindex=0>{text}</pre></details>"
        )
    return "".join(parts)


def _as_planned(analysis: Analysis) -> str:
    found = analysis.results.verification
    return "<p>Nothing deviated from the plan.</p>" if found is None or found.ok else ""


def _player(content: Content) -> str:
    replays = content.analysis.results.replays
    if not replays or not replays["scenes"]:
        return _missing("No failures are recorded yet; `blindsave report --record` replays some and keeps them.")
    return (
        "<p>Recorded episodes seen from above, each beside another goalkeeper facing the same shot. The robot stands "
        "on the left; the mallet is held for the first 0.1 s. While dashed, the puck is hidden from the goalkeeper.</p>"
        '<div class="player"><div class="controls"><select aria-label="Episode"></select>'
        '<button type="button" class="play">Play</button><button type="button" class="slow">1× speed</button>'
        '<input type="range" min="0" max="1" value="0" step="20" aria-label="Time"></div><div class="lanes"></div>'
        '<ul class="key"><li class="seen">puck, seen</li><li class="blind">puck, hidden</li>'
        '<li class="keeper">mallet</li></ul></div>'
    )


def _replays(replays: Mapping[str, Any] | None) -> str:
    """The replay document with titles, goals before other failures, safe inside a script element."""
    if not replays:
        return "null"
    goals_first = sorted(replays["scenes"], key=lambda scene: scene["lanes"][0]["outcome"] != "goal_conceded")
    scenes = [
        scene | {"lanes": [lane | {"title": title(lane["policy"])} for lane in scene["lanes"]]} for scene in goals_first
    ]
    return json.dumps({"scenes": scenes}, separators=(",", ":")).replace("<", "\\u003c")


def _plate(plate: Plate, looks: Looks) -> str:
    wide = {panel.name for row in plate.rows for panel in row if len(row) == 1}
    panels = "".join(f"<div{' class=wide' if p.name in wide else ''}>{inline(p, looks)}</div>" for p in plate.panels)
    name = plate.name.replace("-", " ").capitalize() if plate.name[-1].isdigit() else "Figure"
    caption = f"<strong>{name}. {html.escape(plate.title)}.</strong> {html.escape(plate.caption)}"
    inner = f'<div class="panels">{panels}</div><figcaption>{caption}</figcaption>'
    return f'<figure class="plate n{len(plate.panels)}" id="{plate.name}">{inner}</figure>'


def _folded(sheet: Sheet) -> str:
    return f"<details><summary>{html.escape(sheet.title)}</summary>{to_html(sheet)}</details>"


def _missing(sentence: str) -> str:
    return f'<p class="missing">{html.escape(sentence)}</p>'


def _asset(name: str) -> str:
    return files("blindsave.report").joinpath("page", name).read_text(encoding="utf-8")


SECTIONS = (
    Section("summary", "Summary", "In short", content=_summary),
    Section("paper", "Paper vs. ours", "The paper's claims and our results", lead=_source, figures_last=True),
    Section("task", "Task", "Does the task need memory?", "The memory tests are not recorded yet."),
    Section("results", "Results", "How many shots are saved", "No test is recorded yet."),
    Section("cost", "Cost", "What it costs", "None of the tables holds a registered family."),
    Section("noise", "Noise", "Noise on the puck's position", "The noise extension is not recorded yet."),
    Section("failures", "Failures", "Watch it fail", content=_player),
    Section("protocol", "Protocol", "Plan, deviations and ledger", content=_record),
    Section("files", "Files", "Files behind this page", "No file was read."),
)
