"""The documentation site: it builds, every link leads somewhere, nothing comes from elsewhere, and it fits a phone."""

import os
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from devtools import Browser, browser

REPOSITORY = Path(__file__).parents[1]
SEEN = ("index", "tutorial", "results", "study/save-rates", "reference/commands", "reference/evidence")
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
CUT = """[...document.querySelectorAll('article :is(h1, h2, h3, p, li, a, small)')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && !e.closest('pre, table') && box.right > document.documentElement.clientWidth + 1;
}).map(e => e.textContent.slice(0, 80))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built as `make docs` does: any warning stops it."""
    pytest.importorskip("mkdocs")
    out = tmp_path_factory.mktemp("site")
    order = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    done = subprocess.run(
        order, cwd=REPOSITORY, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


class Page(HTMLParser):
    """Links, anchors and what a page fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.fetched: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect."""
        found = {name: value or "" for name, value in attrs}
        self.names |= {found[key] for key in ("id", "name") if key in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if FETCHED.get(tag) in found and found.get("rel") != "canonical":
            self.fetched.append(found[FETCHED[tag]])


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_every_page_of_the_documentation_is_in_the_site_and_in_its_navigation(site, pages):
    names = {path.with_suffix(".html").name for path in (REPOSITORY / "docs").glob("*.md")}
    home = pages[site / "index.html"]
    assert names <= {path.name for path in pages} and names <= set(home.links)


def test_every_link_leads_somewhere(site, pages):
    for path, page in pages.items():
        for link in [*page.links, *page.fetched]:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.relative_to(site)}: {link}"
            if parts.fragment and target in pages and target.suffix == ".html":
                names = pages[target].names
                assert unquote(parts.fragment) in names, f"{path.relative_to(site)}: {link}"


def test_nothing_is_fetched_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert not [link for link in page.fetched if "//" in link], path.relative_to(site)
    assert "unpkg" not in (site / "404.html").read_text("utf-8")


def test_docstrings_and_results_are_pages(site):
    assert "The principal analysis" in (site / "reference/evidence.html").read_text("utf-8")
    assert "--replay" in (site / "reference/commands.html").read_text("utf-8")
    assert "figure-3-dark.svg#only-dark" in (site / "study/save-rates.html").read_text("utf-8")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory) -> Iterator[Browser]:
    if browser() is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    with Browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1440, False)])
def test_pages_fit_complain_of_nothing_and_follow_the_system(chromium, site, width, dark):
    for name in SEEN:
        chromium.events.clear()
        chromium.open(site / f"{name}.html", width, dark)
        assert chromium.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name
        assert chromium.value(CUT) == [], name
        assert chromium.value("document.body.dataset.mdColorScheme") == ("slate" if dark else "default"), name
        assert chromium.complaints() == [], name


def test_search_works_from_a_disk(chromium, site):
    chromium.open(site / "index.html", 1440)
    chromium.value("document.querySelector('#__search').click()")
    typed = "const box = document.querySelector('.md-search__input'); box.value = 'leaderboard';"
    chromium.value(f"{{ {typed} box.dispatchEvent(new Event('input', {{bubbles: true}})) }}")
    chromium.wait("document.querySelectorAll('.md-search-result__item').length > 0")
