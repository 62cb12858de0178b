"""The page: its sections, what it says where something is missing, and that nothing breaks out of it."""

import json
from dataclasses import replace

from blindsave.report import page as pages
from blindsave.report.analysis import Analysis
from blindsave.report.page import SECTIONS, Content, Section
from blindsave.report.sheet import Column, Sheet
from blindsave.verify.findings import Failure, Verification


def test_the_first_replay_is_a_goal():
    from blindsave.report.page import _replays

    def scene(outcome: str) -> dict:
        return {"title": outcome, "lanes": [{"policy": "gru_n64", "outcome": outcome}]}

    endings = ("timeout_after_contact", "goal_conceded", "timeout_after_contact", "goal_conceded")
    played = json.loads(_replays({"scenes": [scene(ending) for ending in endings]}))
    assert [one["title"] for one in played["scenes"]] == sorted(endings)


def show(section: Section, analysis: Analysis, *sheets: Sheet) -> str:
    return section.html(Content(analysis, [], {sheet.name: sheet for sheet in sheets}, ()))


def section(name: str) -> Section:
    return next(one for one in SECTIONS if one.name == name)


def sheet(name: str, folded: bool = False) -> Sheet:
    return Sheet(name, f"Title of {name}", "", (Column("a", "A"),), (("<b>x</b>",),), section="noise", folded=folded)


def test_a_section_shows_its_own_tables_and_folds_some(analysis: Analysis):
    text = show(section("noise"), analysis, sheet("one"), sheet("two", folded=True))
    assert text.index("Title of one") < text.index("<details><summary>Title of two</summary>")
    assert "not recorded yet" not in text and "<b>x</b>" not in text
    assert "Title of one" not in show(section("cost"), analysis, sheet("one"))


def test_a_section_without_tables_says_what_is_missing(analysis: Analysis):
    assert "The noise extension is not recorded yet." in show(section("noise"), analysis)
    only_folded = show(section("noise"), analysis, sheet("two", folded=True))
    assert "not recorded yet" in only_folded and "<details>" in only_folded


def test_failed_verification_stands_before_everything_else(analysis: Analysis):
    found = Verification("x", True, True, {}, (Failure("freeze.json", "was <changed>"),), ())
    broken = replace(analysis, results=replace(analysis.results, verification=found))
    text = show(section("summary"), broken)
    assert text.index("freeze.json: was &lt;changed&gt;") < text.index("Shots saved with the puck hidden")
    assert 'role="alert"' in text and "Verification failed in 1 place(s)" in text
    well = replace(analysis, results=replace(analysis.results, verification=replace(found, failures=())))
    assert 'role="alert"' not in show(section("summary"), well)


def test_nothing_deviated_is_not_said_of_a_study_that_does_not_verify(analysis: Analysis):
    found = Verification("x", True, True, {}, (Failure("f", "r"),), ())
    assert "Nothing deviated" in show(
        section("protocol"), replace(analysis, results=replace(analysis.results, verification=None))
    )
    broken = replace(analysis, results=replace(analysis.results, verification=found))
    assert "Nothing deviated" not in show(section("protocol"), broken)


def test_notes_are_paragraphs_and_the_plan_is_printed_whole(analysis: Analysis):
    noted = replace(analysis, results=replace(analysis.results, notes="One <thing>.\n\nAnother."))
    text = show(section("protocol"), noted)
    assert "<p>One &lt;thing&gt;.</p><p>Another.</p>" in text
    assert "The whole plan (protocol.toml)" in text and "[endpoint]" in text


def test_bars_show_every_policy_at_the_endpoint(analysis: Analysis):
    text = pages._bars(analysis)
    assert text.count('class="bar"') == 8 and "hidden for 400 ms" in text and "<b>44.4 %</b>" in text
    assert pages._bars(replace(analysis, endpoint=7)) == ""
    assert pages._bars(replace(analysis, splits={})) == ""


def test_replays_cannot_close_the_script_that_holds_them():
    scene = {"title": "</script><script>", "lanes": [{"policy": "gru_n64", "outcome": "goal_conceded"}]}
    text = pages._replays({"scenes": [scene]})
    assert "<" not in text and json.loads(text)["scenes"][0]["title"] == "</script><script>"
    assert pages._replays(None) == "null"


def test_without_failures_there_is_no_player(analysis: Analysis):
    for replays in (None, {"scenes": []}):
        text = show(section("failures"), replace(analysis, results=replace(analysis.results, replays=replays)))
        assert "No failures are recorded yet" in text and "<button" not in text
