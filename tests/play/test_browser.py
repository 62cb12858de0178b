"""The page in a real browser: it loads, twin shots are launched at the default pair, outcomes are read, no errors."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

viser = pytest.importorskip("viser", reason="the extra `play` (viser) is not installed")

import devtools  # noqa: E402
from visitor import wait  # noqa: E402

from blindsave.play.panel import LEFT_POST, RIGHT_POST  # noqa: E402
from blindsave.play.server import Arena  # noqa: E402
from blindsave.policies import closed_loop, load  # noqa: E402
from blindsave.task.conditions import CLEAN  # noqa: E402
from blindsave.task.shots import find  # noqa: E402

SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
# viser's own front end says these; they are no faults of the page.
HARMLESS = ("THREE.Clock", "Unable to preventDefault inside passive event listener", "GPU stall due to ReadPixels")
KEPT = os.environ.get("BLINDSAVE_SCREENSHOTS")
TOLD = "[...document.querySelectorAll('[data-outcome]')].map(e => [e.dataset.policy, e.dataset.outcome])"

pytestmark = pytest.mark.skipif(devtools.browser() is None, reason="no Chromium is installed")


@pytest.fixture
def arena() -> Iterator[Arena]:
    with Arena(port=0, plain=not KEPT) as open_arena:  # software rendering pays for every light
        yield open_arena


@pytest.fixture
def page(arena, tmp_path, monkeypatch) -> Iterator[devtools.Browser]:
    flags = tuple(flag for flag in devtools.FLAGS if flag != "--disable-gpu")
    monkeypatch.setattr(devtools, "FLAGS", (*flags, *SOFTWARE_GL))
    with devtools.Browser(tmp_path / "profile") as browser:
        width, height = (1400, 860) if KEPT else (760, 480)
        window = {"width": width, "height": height, "deviceScaleFactor": 1}
        browser.send("Emulation.setDeviceMetricsOverride", **window, mobile=False)
        yield browser
    wait(lambda: not arena.sessions)  # a closed browser has no game


def press(page: devtools.Browser, label: str) -> None:
    buttons = "[...document.querySelectorAll('button')]"
    assert page.value(f"(b => b ? (b.click(), true) : false)({buttons}.find(b => b.textContent.trim() === '{label}'))")


def errors(page: devtools.Browser) -> list[str]:
    found = [text for text in page.complaints() if not any(known in text for known in HARMLESS)]
    return [text for text in found if '"level": "info"' not in text and '"level": "verbose"' not in text]


def drag(page: devtools.Browser, start: tuple[int, int], end: tuple[int, int]) -> None:
    def mouse(kind: str, share: float, buttons: int) -> None:
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        options = {"button": "left", "buttons": buttons, "clickCount": 1} if kind != "mouseMoved" or buttons else {}
        page.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **options)

    mouse("mouseMoved", 0.0, 0)
    mouse("mousePressed", 0.0, 1)
    for k in range(1, 6):
        mouse("mouseMoved", k / 5, 1)
    mouse("mouseReleased", 1.0, 0)


def keep(page: devtools.Browser, folder: Path, name: str) -> None:
    """Take a screenshot; BLINDSAVE_SCREENSHOTS names a folder where all are kept, large.

    Without it two are enough: drawn by software, each takes seconds.
    """
    if not KEPT and name not in ("near_post_left_hidden", "near_post_right_end"):
        return
    folder = Path(KEPT or folder)
    page.screenshot(folder / f"{name}.png")
    assert (folder / f"{name}.png").stat().st_size > 20_000


def test_twin_shots_in_a_browser_end_as_in_evaluate(arena, page, tmp_path):
    page.send("Page.navigate", url=f"http://127.0.0.1:{arena.server.get_port()}")
    page.wait("!!document.querySelector('canvas') && document.body.innerText.includes('Twin shots')")
    wait(lambda: arena.sessions)
    (session,) = arena.sessions.values()
    pair = arena.roster.default_pair()
    for label, post in ((LEFT_POST, "near_post_left"), (RIGHT_POST, "near_post_right")):
        press(page, label)
        shot = find(f"validation:alias:038:{post}")
        wait(lambda shot=shot: session.game.take and session.game.take.shot is shot and session.game.moment > 14)
        press(page, "Pause")
        keep(page, tmp_path, f"{post}_hidden")
        press(page, "Pause")
        played = [closed_loop.run(load(name), [CLEAN.episode(shot, 20)]).labels[0] for name in pair]
        expected = [list(row) for row in zip(pair, played, strict=True)]
        page.wait(f"JSON.stringify({TOLD}) === {json.dumps(json.dumps(expected, separators=(',', ':')))}")
        keep(page, tmp_path, f"{post}_end")
    assert errors(page) == []
    width, height = page.value("(c => [c.clientWidth, c.clientHeight])(document.querySelector('canvas'))")
    drag(page, (round(0.24 * width), round(0.65 * height)), (round(0.26 * width), round(0.45 * height)))
    wait(lambda: session.game.take.shot.id.startswith("custom:"))
    assert session.game.take.shot.vx < 0
    assert errors(page) == [] and session.faults == 0
