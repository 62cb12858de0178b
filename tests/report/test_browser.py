"""The page in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from devtools import Browser, browser

from blindsave.report.build import Report

pytestmark = pytest.mark.skipif(browser() is None, reason="no Chromium is installed (apt-get install chromium)")
SECTIONS = ["summary", "paper", "task", "results", "cost", "noise", "failures", "protocol", "files"]
CLOCK = "Number(document.querySelector('.player').dataset.clock)"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


def colour(chromium: Browser, of: str) -> str:
    return chromium.value(f"getComputedStyle(document.querySelector('{of}')).backgroundColor")


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)])
def test_the_page_shows_everything_and_complains_of_nothing(chromium: Browser, report: Report, width: int, dark: bool):
    chromium.events.clear()
    chromium.open(report.page, width, dark)
    shown = chromium.value("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert shown == SECTIONS
    assert chromium.value(
        "[...document.querySelectorAll('.plate svg')].every(s => s.getBoundingClientRect().width > 200)"
    )
    assert chromium.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), (
        "scrolls sideways"
    )
    assert chromium.value("parseFloat(getComputedStyle(document.body).fontSize) >= 16")
    assert chromium.complaints() == []


def test_dark_mode_changes_ground_and_figures(chromium: Browser, report: Report):
    stroke = "getComputedStyle(document.querySelector('#figure-3 svg path[style*=\"--s-structured-k0\"]')).stroke"
    chromium.open(report.page, dark=False)
    light = colour(chromium, "body"), chromium.value(stroke)
    chromium.open(report.page, dark=True)
    dark = colour(chromium, "body"), chromium.value(stroke)
    assert light == ("rgb(255, 255, 255)", "rgb(0, 103, 168)")
    assert dark == ("rgb(20, 25, 30)", "rgb(77, 179, 245)")


def test_the_animation_plays_pauses_and_can_be_moved(chromium: Browser, report: Report):
    chromium.open(report.page, 390)
    chromium.value("document.querySelector('.player').scrollIntoView({behavior: 'instant'})")
    chromium.wait(f"{CLOCK} > 100")
    chromium.value("document.querySelector('.play').click()")
    assert chromium.value("document.querySelector('.play').textContent") == "Play"
    held = chromium.value(CLOCK)
    chromium.value("new Promise(done => setTimeout(done, 200))")
    assert chromium.value(CLOCK) == held
    move = "const s = document.querySelector('.player input'); s.value = 400; s.dispatchEvent(new Event('input'))"
    picture = "document.querySelector('.lane canvas').toDataURL()"
    before = chromium.value(picture)
    chromium.value(f"{{ {move} }}")
    assert chromium.value(CLOCK) == 400
    assert chromium.value(picture) != before
    chromium.value("document.querySelector('.play').click()")
    chromium.wait(f"{CLOCK} > 400")


def test_another_episode_can_be_chosen(chromium: Browser, report: Report):
    chromium.open(report.page)
    pick = "const s = document.querySelector('.player select'); s.value = 1; s.dispatchEvent(new Event('change'))"
    chromium.value(f"{{ {pick} }}")
    assert chromium.value("document.querySelectorAll('.player option').length") == 2
    assert chromium.value("document.querySelectorAll('.lane canvas').length") == 2
    said = chromium.value("document.querySelector('.lane').textContent")
    assert "fixed centre" in said and "goal conceded" in said


def test_without_scripts_the_numbers_are_still_there(chromium: Browser, report: Report):
    chromium.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(report.page)
        rows = chromium.value("document.querySelectorAll('#table-table-1 tbody tr').length")
    finally:
        chromium.send("Emulation.setScriptExecutionDisabled", value=False)
    assert rows == 8


def test_a_picture_of_the_page_is_not_blank(chromium: Browser, report: Report, tmp_path: Path):
    from PIL import Image

    chromium.open(report.page, dark=True)
    chromium.screenshot(tmp_path / "page.png")
    with Image.open(tmp_path / "page.png") as picture:
        assert len(picture.convert("RGB").getcolors(1 << 24) or []) > 50


def test_on_a_phone_the_headline_bars_are_long_enough_to_compare(chromium: Browser, report: Report):
    chromium.open(report.page, 390)
    tracks = "[...document.querySelectorAll('.bars .track')].map(t => t.getBoundingClientRect().width)"
    assert min(chromium.value(tracks)) > 250


def test_what_scrolls_sideways_says_so_until_its_end(chromium: Browser, report: Report):
    def found(selector: str) -> str:
        return f"document.querySelector('{selector}') !== null"

    hint = "getComputedStyle(document.querySelector('#table-table-1 figcaption'), '::after').content"
    chromium.open(report.page, 1440)
    chromium.wait(found("nav:not(.more)"))
    assert chromium.value(hint) == "none"
    chromium.open(report.page, 390)
    chromium.wait(f"{found('nav.more')} && {found('#table-table-1.wide.more')}")
    assert "Scroll" in chromium.value(hint)
    chromium.value("document.querySelectorAll('nav ul, #table-table-1 .scroll').forEach(b => b.scrollLeft = 9999)")
    chromium.wait(f"{found('nav:not(.more)')} && {found('#table-table-1.wide:not(.more)')}")
    assert not chromium.value(found("#table-claims.wide")), "cards need no scrolling"
