import sys

import numpy as np
import pytest
from recordings import made_up, yellow

from blindsave.draw import opengl, pictures, topdown
from blindsave.draw.canvas import GOOD, HIDDEN
from blindsave.errors import BadInput

SMALL = pictures.Style(width=320, height=240)


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


def test_without_opengl_pictures_come_from_above_and_say_so_once(no_opengl, capsys):
    recording = made_up()
    image = pictures.render_qpos(recording.qpos[0], 320, 200)
    assert image.shape == (200, 320, 3) and image.dtype == np.uint8
    np.testing.assert_array_equal(image, topdown.table_image(recording.qpos[0], 320, 200))
    from_above = pictures.Style(320, 240, view="top")
    np.testing.assert_array_equal(pictures.frame(recording, 7, SMALL), pictures.frame(recording, 7, from_above))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and "no working OpenGL" in said[0]


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

    def painted(image, colour):
        return (np.abs(image[badge] - np.rint(np.array(colour) * 255)).max(axis=2) < 20).sum()

    assert painted(hidden, HIDDEN) > 300 and painted(seen, HIDDEN) == 0
    assert painted(last, GOOD) > 300 and painted(last, HIDDEN) == 0


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
    assert len(frames) == pictures.film_length(len(recording), 10, 1.0) == 6 + 15
    np.testing.assert_array_equal(frames[-1], pictures.frame(recording, 30, style))
    with pytest.raises(BadInput, match="fps"):
        list(pictures.film(recording, style, fps=0))


def test_wordless_pictures_need_no_extra(no_opengl, monkeypatch):
    for name in ("PIL", "PIL.Image", "matplotlib", "imageio_ffmpeg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert pictures.render_qpos(made_up().qpos[0], 64, 48).shape == (48, 64, 3)
