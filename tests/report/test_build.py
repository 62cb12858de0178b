import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import synthetic_results

from blindsave.cli import execute
from blindsave.report.build import Report, build

SECTIONS = ["summary", "paper", "task", "results", "cost", "noise", "failures", "protocol", "files"]
VOID = {"meta", "link", "input", "br", "img", "path", "use", "rect", "circle", "line"}


class Page(HTMLParser):
    """Collects ids, links and tags, and checks that tags close in order."""

    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        self.addresses += [values[name] for name in ("href", "src", "xlink:href") if name in values]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return report.page.read_text(encoding="utf-8")


def test_the_page_holds_every_section_and_every_table(report: Report, page: str):
    parsed = Page(page)
    assert parsed.open == []
    assert set(SECTIONS) <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    for name in report.tables:
        assert f"table-{name}" in parsed.ids, name
    for name in report.figures:
        assert name in parsed.ids


def test_the_page_needs_nothing_from_anywhere(page: str):
    parsed = Page(page)
    inside = {f"#{name}" for name in parsed.ids}
    assert [a for a in parsed.addresses if a not in inside and not a.startswith("data:")] == []
    assert not re.search(r"@import|url\((?!#)", page)
    assert len(page.encode()) < 3_000_000


def test_the_page_carries_the_replays_and_cannot_be_broken_out_of(page: str):
    data = page.partition('id="replay-data">')[2].partition("</script>")[0]
    assert "<" not in data
    scenes = json.loads(data)["scenes"]
    assert scenes[0]["lanes"][0]["title"] == "fixed centre"


def test_every_table_comes_in_three_formats(report: Report):
    for kinds in report.tables.values():
        assert set(kinds) == {"md", "tex", "csv"}
        assert all(path.stat().st_size for path in kinds.values())
    table = report.tables["table-1"]["md"].read_text(encoding="utf-8")
    assert "| Structured k = 0 | 98.3 [" in table


def test_what_the_command_prints_is_json(report: Report):
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert Path(plain["page"]).is_file()
    assert {claim["id"] for claim in plain["claims"]} >= {"gru", "stack", "noise-gru"}
    assert plain["missing"] == []


def test_a_small_study_is_reported_with_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = synthetic_results.write(tmp_path / "results", "quick")
    (folder / "statement.md").write_text("A quick study <at reduced budgets>.", encoding="utf-8")
    execute(["report", "--results", str(folder), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert Path(result["page"]) == folder / "report" / "report.html"
    text = (folder / "report" / "report.html").read_text(encoding="utf-8")
    assert Page(text).open == []
    assert "A quick study &lt;at reduced budgets&gt;." in text
    for sentence in (
        "The noise extension is not recorded yet",
        "No failures are recorded yet",
        "There is no ledger",
        "There is no analysis plan",
    ):
        assert sentence in text
    assert {"figure-1", "figure-3", "figure-4"} == set(result["figures"])
    assert any("principal" in item for item in result["missing"])
    assert next(c["verdict"] for c in result["claims"] if c["id"] == "gru") == "not tested"


def test_an_empty_folder_gives_a_page_that_says_so(tmp_path: Path):
    made = build(tmp_path, tmp_path / "out", 50)
    text = made.page.read_text(encoding="utf-8")
    assert "No test has been recorded yet." in text
    assert Page(text).open == []


def test_equal_results_give_an_equal_page(report: Report, page: str, analysis):
    from blindsave.report import claims
    from blindsave.report.build import tables
    from blindsave.report.page import page as compose
    from blindsave.report.registry import figures

    found = claims.findings(analysis)
    assert compose(analysis, tables(analysis), figures.made(analysis), found) == page
