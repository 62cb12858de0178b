import sys

import numpy as np
import pytest

from blindsave.arena import constants as c
from blindsave.draw import captions, opengl, pairs, pictures, topdown
from blindsave.draw.canvas import GOOD, Canvas
from blindsave.draw.recording import Recording, skeleton
from blindsave.errors import BadInput

SMALL = pictures.Style(width=320, height=240)


def made_up(steps: int = 31, hidden: tuple[int, int] = (5, 15), slope: float = 0.1, **changes) -> Recording:
    """A puck sliding to the goal past an arm that stands still; no simulator involved."""
    qpos = np.zeros((steps, 12))
    qpos[:, :7], qpos[:, 7] = c.HOME_ARM_RAD, 0.523598779927196
    qpos[:, 9] = np.linspace(0.5, -1.0, steps)
    qpos[:, 10] = slope * (qpos[hidden[0], 9] - qpos[:, 9])
    visible = np.ones(steps, bool)
    visible[slice(*hidden)] = False
    seen = np.where(visible[:, None], qpos[:, 9:11], np.nan)
    fields = {"outcome": "goal_conceded", "saved": False, "title": "made up", **changes}
    return Recording(qpos, visible, seen, np.zeros((steps, 2)), **fields)


@pytest.fixture
def no_opengl(monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    opengl.backend.cache_clear()
    pictures._say_once.cache_clear()
    yield
    opengl.backend.cache_clear()
    pictures._say_once.cache_clear()


@pytest.fixture
def with_opengl():
    if not opengl.available():
        pytest.skip("this machine has no working OpenGL library; the fallback is tested instead")


def yellow(image: np.ndarray) -> np.ndarray:
    """Pixels (row, column) of the puck's colour."""
    r, g, b = (image[..., k].astype(int) for k in range(3))
    return np.argwhere((r > 180) & (g > 145) & (b < 110) & (r - b > 110))


def on_table(pixels: np.ndarray) -> np.ndarray:
    """Without the arm, whose rings have a similar colour, in a picture of 568 by 264 pixels from above."""
    return pixels[pixels[:, 1] > 250]


def test_recordings_know_their_hidden_spans_and_slow_motion():
    recording = made_up()
    assert recording.hidden_spans == [(5, 15)]
    assert made_up(hidden=(5, 5)).hidden_spans == []
    np.testing.assert_allclose(recording.at(2.5), recording.qpos[2:4].mean(axis=0))
    np.testing.assert_array_equal(recording.at(30), recording.qpos[-1])
    np.testing.assert_allclose(recording.mallet[0], (-0.86, 0.0), atol=1e-6)
    assert np.isfinite(recording.shown).all()


def test_recordings_of_the_wrong_shape_are_refused():
    good = made_up()
    with pytest.raises(BadInput, match=r"\(T, 12\)"):
        Recording(good.qpos[:, :11], good.visible, good.seen)
    with pytest.raises(BadInput, match="one row per"):
        Recording(good.qpos, good.visible[:-1], good.seen)
    with pytest.raises(BadInput, match="target"):
        Recording(good.qpos, good.visible, good.seen, np.zeros((3, 2)))


def test_the_skeleton_ends_at_the_mallet():
    joints = skeleton(made_up().qpos[0])
    np.testing.assert_allclose(joints[0], c.ROBOT_BASE_M)
    np.testing.assert_allclose(joints[-1], (-0.86, 0, 0.0645), atol=1e-6)


def test_from_above_the_puck_is_drawn_where_it_is():
    qpos = made_up().qpos[0]
    image = topdown.table_image(qpos, 568, 264)
    rows, columns = on_table(yellow(image)).T
    plan = topdown.Plan.fit(Canvas(568, 264))
    x, y = plan.px(qpos[9:11])
    assert columns.mean() == pytest.approx(x, abs=1.5) and rows.mean() == pytest.approx(y, abs=1.5)


def test_from_above_a_hidden_puck_is_a_ghost():
    qpos = made_up().qpos[0]
    assert len(on_table(yellow(topdown.table_image(qpos, 568, 264)))) > 50
    assert len(on_table(yellow(topdown.table_image(qpos, 568, 264, hidden=True)))) == 0


def test_without_opengl_pictures_come_from_above_and_say_so_once(no_opengl, capsys):
    recording = made_up()
    image = pictures.render_qpos(recording.qpos[0], 320, 200)
    assert image.shape == (200, 320, 3) and image.dtype == np.uint8
    np.testing.assert_array_equal(image, topdown.table_image(recording.qpos[0], 320, 200))
    from_above = pictures.Style(320, 240, view="top")
    np.testing.assert_array_equal(pictures.frame(recording, 7, SMALL), pictures.frame(recording, 7, from_above))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and "no working OpenGL" in said[0]


def test_missing_libraries_are_no_opengl(monkeypatch):
    def refuse(name, *_args):
        raise OSError(name)

    monkeypatch.setattr(opengl.ctypes, "CDLL", refuse)
    assert not opengl._egl_works() and not opengl._osmesa_works()


def test_a_driver_that_fails_is_no_opengl(monkeypatch):
    def fail(*_size):
        raise RuntimeError("driver")

    monkeypatch.setattr(opengl, "backend", lambda: "egl")
    monkeypatch.setattr(opengl, "stage", fail)
    opengl._first_picture.cache_clear()
    assert not opengl.available()
    opengl._first_picture.cache_clear()


def test_three_dimensional_pictures_show_puck_and_ghost(with_opengl):
    recording = made_up()
    stage = opengl.stage(480, 320)
    plain, ghost = (stage.draw(recording.qpos[10], "shot", ghost=hidden) for hidden in (False, True))
    assert plain.shape == (320, 480, 3) and plain.std() > 20
    assert len(yellow(plain)) > 20 > len(yellow(ghost))
    np.testing.assert_array_equal(plain, stage.draw(recording.qpos[10], "shot"))


def test_three_dimensional_pictures_follow_puck_and_arm(with_opengl):
    recording = made_up()
    first, later = (pictures.render_qpos(recording.qpos[t], 480, 320) for t in (0, 20))
    assert yellow(later)[:, 1].mean() < yellow(first)[:, 1].mean() - 100  # the robot is on the left
    turned = recording.qpos[0].copy()
    turned[0] = 0.3
    assert np.abs(pictures.render_qpos(turned, 480, 320).astype(int) - first).max() > 60


def test_an_unknown_camera_is_refused(with_opengl):
    with pytest.raises(BadInput, match="there is no camera 'moon'; cameras: shot"):
        pictures.render_qpos(made_up().qpos[0], 64, 48, camera="moon")


def test_a_configuration_must_be_twelve_finite_numbers():
    for bad in (np.zeros(11), np.full(12, np.nan)):
        with pytest.raises(BadInput, match="12 finite numbers"):
            pictures.render_qpos(bad)


def test_frames_mark_the_hidden_phase_and_the_outcome():
    style = pictures.Style(480, 320, view="top")
    recording = made_up(outcome="returned", saved=True)
    seen, hidden, last = (pictures.frame(recording, t, style) for t in (2, 8, 30))
    badge = (slice(25, 60), slice(330, 480))
    assert (hidden[badge].min(axis=2) > 200).sum() > 5 * max((seen[badge].min(axis=2) > 200).sum(), 10)
    green = np.rint(np.array(GOOD) * 255)
    assert (np.abs(last[badge] - green).max(axis=2) < 20).sum() > 300


def test_the_timeline_shows_as_much_hidden_time_as_there_was():
    shares = []
    for length in (0, 6, 12):
        canvas = Canvas(600, 80)
        captions.timeline(canvas, made_up(hidden=(5, 5 + length)), 30, (10, 10), (590, 70))
        row = canvas.image()[12].astype(int)
        shares.append(int(((row[:, 0] > 220) & (row[:, 2] < 90)).sum()))
    assert shares[0] > shares[1] > shares[2]
    assert shares[0] - shares[1] == pytest.approx(shares[1] - shares[2], rel=0.2)


def test_moments_tell_the_story_in_order():
    assert [words for _, words in pictures.moments(made_up(first_contact=25, saved=True, outcome="returned"))] == [
        "launch",
        "tracking lost",
        "contact",
        "saved: returned",
    ]
    plain = pictures.moments(made_up(hidden=(5, 5)))
    assert len(plain) == 4 and plain[0] == (0, "launch") and plain[-1] == (30, "goal conceded")


def test_a_strip_and_a_film_have_the_promised_size():
    style = pictures.Style(360, 240, view="top")
    recording = made_up()
    assert pictures.strip(recording, style).shape == (240, 360, 3)
    frames = list(pictures.film(recording, style, fps=10, slower=1.0))
    assert len(frames) == pictures.film_length(recording, 10, 1.0) == 6 + 15
    np.testing.assert_array_equal(frames[-1], pictures.frame(recording, 30, style))
    with pytest.raises(BadInput, match="fps"):
        list(pictures.film(recording, style, fps=0))


def test_a_pair_is_drawn_in_two_colours_that_part():
    image = pairs.pair_image(made_up(slope=0.07), made_up(slope=-0.07), "pair", width=700).astype(int)
    for colour in (pairs.FIRST, pairs.SECOND):
        assert (np.abs(image - np.rint(np.array(colour) * 255)).max(axis=2) < 8).sum() > 100


def test_a_pair_needs_a_common_blackout():
    with pytest.raises(BadInput, match="blackout of at least one step"):
        pairs.pair_image(made_up(hidden=(5, 5)), made_up(), "pair")
    with pytest.raises(BadInput, match="same observation"):
        pairs.pair_image(made_up(), made_up(hidden=(6, 15)), "pair")


def test_a_pair_shows_when_tracking_comes_back():
    short, long = (pairs.pair_image(made_up(hidden=(5, end)), made_up(hidden=(5, end)), "") for end in (10, 20))
    assert (short != long).any()


def test_wordless_pictures_need_no_extra(no_opengl, monkeypatch):
    for name in ("PIL", "PIL.Image", "matplotlib", "imageio_ffmpeg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert pictures.render_qpos(made_up().qpos[0], 64, 48).shape == (48, 64, 3)
