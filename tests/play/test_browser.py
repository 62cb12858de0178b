"""The page in a real browser: what it shows first, at three widths, in both colour schemes, by mouse and by touch.

BLINDSAVE_SCREENSHOTS names a folder where pictures of every width and scheme are kept.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import devtools
import mujoco
import numpy as np
import pytest

from blindsave.draw import looks
from blindsave.play.server import Arena
from blindsave.play.take import FIRST_SHOT
from blindsave.policies import closed_loop, load
from blindsave.task.conditions import CLEAN
from blindsave.task.shots import find

SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
KEPT = os.environ.get("BLINDSAVE_SCREENSHOTS")
SIZES = {390: 844, 1000: 700, 1440: 900}
TOLD = "[...document.querySelectorAll('.plate:not([hidden])')].map(p => [p.dataset.policy, p.dataset.outcome])"
MARKS = "performance.getEntriesByType('mark').map(mark => mark.name)"
# A corner of the playing field, or the top of the arm, as a place on the page.
SEEN_AT = """((table, p) => {
  const box = hall.canvas.getBoundingClientRect(), n = take.tables.length, c = hall.camera(box.width / n / box.height);
  const v = times(c.all, placed([1, 0, 0, 0], p)), w = v[15];
  return [box.left + box.width / n * (table + (1 + v[12] / w) / 2), box.top + box.height * (1 - v[13] / w) / 2];
})"""

pytestmark = pytest.mark.skipif(devtools.browser() is None, reason="no Chromium is installed")


@pytest.fixture(scope="module")
def arena() -> Iterator[Arena]:
    with Arena(port=0) as open_arena:
        yield open_arena


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[devtools.Browser]:
    flags, devtools.FLAGS = devtools.FLAGS, (*(f for f in devtools.FLAGS if f != "--disable-gpu"), *SOFTWARE_GL)
    try:
        with devtools.Browser(tmp_path_factory.mktemp("profile")) as opened:
            yield opened
    finally:
        devtools.FLAGS = flags


@pytest.fixture
def page(arena, browser) -> Iterator[devtools.Browser]:
    yield browser
    assert browser.complaints() == []
    browser.send("Page.navigate", url="about:blank")


def visit(page: devtools.Browser, arena: Arena, width: int = 1000, dark: bool = False, **also) -> None:
    page.events.clear()
    window = {"width": width, "height": SIZES[width], "deviceScaleFactor": 1, "mobile": width < 600}
    page.send("Emulation.setDeviceMetricsOverride", **window)
    page.send("Emulation.setTouchEmulationEnabled", enabled=width < 600)
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    page.send("Emulation.setEmulatedMedia", media="", features=scheme)
    page.send("Page.navigate", url=f"http://127.0.0.1:{arena.port}")
    page.wait("document.readyState === 'complete' && typeof hall !== 'undefined' && hall !== null")


def seen_at(page: devtools.Browser, table: int, *point: float) -> list[float]:
    return page.value(f"{SEEN_AT}({table}, {json.dumps([*point, 0.0][:3])})")


def ended(page: devtools.Browser) -> list[list[str]]:
    page.wait("ended && !waiting && moment >= length()")
    return page.value(TOLD)


def keep(page: devtools.Browser, name: str) -> None:
    if KEPT:
        page.screenshot(Path(KEPT) / f"{name}.png")


def drag(page: devtools.Browser, start, end, touch: bool = False) -> None:
    def move(kind: str, share: float) -> None:
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        if touch:
            points = [] if kind == "End" else [{"x": x, "y": y}]
            page.send("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=points)
        else:
            kind = {"Start": "mousePressed", "Move": "mouseMoved", "End": "mouseReleased"}[kind]
            page.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    move("Start", 0.0)
    for k in range(1, 4):
        move("Move", k / 3)
    page.wait("drag !== null && drag.shot !== null")
    keep(page, f"aim_{'touch' if touch else 'mouse'}")
    move("End", 1.0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", SIZES)
def test_the_first_sight(width, dark, arena, page):
    visit(page, arena, width, dark)
    assert page.value("document.title").startswith("blindsave")
    assert page.value("document.documentElement.scrollWidth <= innerWidth"), "nothing is cut off at the side"
    if KEPT:
        page.wait("moment > 12")
        page.value("$('pause').click()")
        keep(page, f"{width}_{'dark' if dark else 'light'}_hidden")
        page.value("$('pause').click()")
    told = ended(page)
    keep(page, f"{width}_{'dark' if dark else 'light'}_end")
    shot = find(FIRST_SHOT)
    expected = [[key, closed_loop.run(load(key), [CLEAN.episode(shot, 20)]).labels[0]] for key in arena.roster.pair]
    assert told == expected, "a shot flew without anybody asking, and ended as in evaluate"
    assert page.value(MARKS)[:3] == ["named", "flying", "shot save goal"], "names come before the first shot"
    assert page.value("$('round').textContent") == "", "what nobody shot counts for nobody"
    box = page.value("(r => [r.left, r.top, r.right, r.bottom])(hall.canvas.getBoundingClientRect())")
    plates = page.value("$('plates').getBoundingClientRect().bottom")
    for table in range(2):
        for point in [(x, y, 0.0) for x in (-1.06, 1.06) for y in (-0.6, 0.6)] + [(-1.51, 0.0, 1.0)]:
            x, y = seen_at(page, table, *point)
            half = (box[0] + box[2]) / 2
            assert (box[0], half)[table] <= x <= (half, box[2])[table] and plates <= y <= box[3], "all of it is in view"
    assert page.value("$('left').getBoundingClientRect().top < innerHeight"), "the first button is in view as well"


def test_a_drag_aims_at_the_goal_and_its_preview_is_its_shot(arena, page):
    visit(page, arena)
    page.value("$('pace').value = '1'")
    drag(page, seen_at(page, 1, 0.6, 0.2), seen_at(page, 1, 0.6 - 0.787, 0.1))  # half the way to the middle of the goal
    page.wait("take.shot.id.startsWith('custom:') && !waiting")
    x, y, target, speed = page.value("[take.shot.x, take.shot.y, take.shot.target_y, take.shot.speed]")
    assert (x, y) == pytest.approx((0.6, 0.2), abs=0.02) and target == pytest.approx(0.0, abs=0.03)
    assert speed == pytest.approx(3.0 * np.hypot(0.787, 0.1), rel=0.05)
    ended(page)
    assert page.value("$('round').textContent") == "1 of 10"


def test_a_wide_shot_is_called_wide_and_counts_for_nobody(arena, page):
    visit(page, arena, 390)
    page.value("$('pace').value = '1'")
    drag(page, seen_at(page, 0, 0.5, 0.0), seen_at(page, 0, -0.2, 0.2), touch=True)
    page.wait("take.shot.id.startsWith('custom:') && !waiting")
    ended(page)
    assert page.value("[...document.querySelectorAll('.state')].map(s => s.textContent)") == ["wide", "wide"]
    assert page.value("$('round').textContent") == ""
    assert page.value("scrollY") == 0, "aiming does not scroll the page"


def test_ten_blind_shots_are_a_round(arena, page):
    visit(page, arena)
    for k in range(10):
        page.value(f"$('pace').value = '1'; $('{('left', 'right')[k % 2]}').click()")
        page.wait("!waiting && !ended")
        page.value("moment = length()")  # nobody has to watch all ten
        page.wait(f"$('round').textContent === '{k + 1} of 10' || !$('note').hidden")
    assert page.value("$('result').textContent").startswith("You lost to “linear memory” 0 : 10")
    page.value("$('hidden').value = 0; $('left').click()")
    page.wait("take.hidden === 0")
    ended(page)
    assert page.value("$('round').textContent") == "10 of 10", "a shot that everybody sees is no blind one"
    keep(page, "round")


def test_time_is_paused_stepped_and_shown_again(arena, page):
    visit(page, arena)
    ended(page)
    shots = arena.figures()["shots"]
    page.value("$('back').click()")
    assert page.value("paused && moment === length() - 1")
    page.value("$('back').click(); $('step').click(); $('step').click()")
    assert page.value("moment === length()")
    page.value("paused = false; $('pause').click()")
    page.wait("moment > 0 && moment < length()")
    assert arena.figures()["shots"] == shots, "what was played is not played again"


def test_what_cannot_be_played_is_said_and_another_goalkeeper_gets_the_same_shot(arena, page):
    visit(page, arena)
    page.value("$('shot').value = 'principal_test:alias:001:near_post_left'; $('named').click()")
    page.wait("!$('note').hidden && $('note').textContent.includes('the tests stay closed')")
    page.value("$('second').value = ''; $('second').dispatchEvent(new Event('change'))")
    page.wait("take.tables.length === 1 && !waiting")
    assert page.value("$('note').hidden && document.querySelectorAll('.plate:not([hidden])').length === 1")
    page.value("$('first').value = 'teacher'; $('first').dispatchEvent(new Event('change'))")
    page.wait("take.tables[0].key === 'teacher'")
    assert page.value("document.querySelector('.plain').textContent") == "the teacher"
    page.events[:] = [
        event for event in page.events if "status of 400" not in json.dumps(event)
    ]  # the browser's own words


def test_without_webgl_the_tables_are_drawn_from_above_and_can_be_shot_at(arena, tmp_path, monkeypatch):
    monkeypatch.setattr(devtools, "FLAGS", (*devtools.FLAGS, "--disable-3d-apis"))
    with devtools.Browser(tmp_path / "profile") as page:
        visit(page, arena)
        assert page.value("hall.constructor.name") == "Plan" and ended(page)[0][1] == "returned"
        where = "(([x, y]) => { const r = hall.canvas.getBoundingClientRect(); "
        where += "return hall.place(r.width / 2, r.height).at(x, y).map((v, i) => v + [r.left, r.top][i]); })"
        drag(page, *(page.value(f"{where}({list(point)})") for point in ((0.6, 0.2), (-0.2, 0.1))))
        page.wait("take.shot.id.startsWith('custom:') && !waiting")
        assert page.value("[take.shot.x, take.shot.y]") == pytest.approx([0.6, 0.2], abs=0.02)
        ended(page)
        keep(page, "from_above")
        assert page.complaints() == []


def test_the_arm_on_the_page_stands_as_in_the_simulator(arena, page):
    visit(page, arena)
    model = looks.visual_model()
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(3):
        data.qpos[:] = rng.uniform(-1, 1, model.nq)
        mujoco.mj_kinematics(model, data)
        plain = "found => Object.fromEntries(Object.entries(found).map(([name, m]) => [name, [...m]]))"
        found = page.value(f"({plain})(hall.pose({data.qpos.tolist()}))")
        for name in ("link_1", "link_4", "link_7", "mallet", "puck"):
            matrix = np.array(found[name]).reshape(4, 4).T
            np.testing.assert_allclose(matrix[:3, 3], data.body(name).xpos, atol=1e-5)
            np.testing.assert_allclose(matrix[:3, :3].ravel(), data.body(name).xmat, atol=1e-5)
