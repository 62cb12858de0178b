"""Off-screen OpenGL: found where it works, and never missed where it does not."""

import numpy as np
import pytest
from recordings import made_up, yellow

from blindsave.draw import opengl


@pytest.fixture
def with_opengl():
    if not opengl.available():
        pytest.skip("this machine has no working OpenGL library; the fallback is tested instead")


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


@pytest.fixture
def asked_afresh():
    opengl.backend.cache_clear()
    yield
    opengl.backend.cache_clear()


@pytest.mark.parametrize(
    ("wish", "taken", "works", "found"),
    [
        ("", "", ("egl", "osmesa"), "egl"),
        ("", "", ("osmesa",), "osmesa"),
        ("", "", (), None),
        ("OSMesa ", "", ("egl", "osmesa"), "osmesa"),
        ("egl", "", ("osmesa",), None),
        ("glfw", "", ("egl",), "egl"),
        ("", "osmesa", ("egl", "osmesa"), "osmesa"),
        ("off", "", ("egl", "osmesa"), None),
        ("0", "", ("egl",), None),
    ],
)
def test_a_wish_is_heard_and_the_first_library_that_works_is_taken(
    monkeypatch, asked_afresh, wish, taken, works, found
):
    monkeypatch.setattr(opengl.platform, "system", lambda: "Linux")
    monkeypatch.setenv("MUJOCO_GL", wish)
    monkeypatch.setenv("PYOPENGL_PLATFORM", taken)
    monkeypatch.setattr(opengl, "_egl_works", lambda: "egl" in works)
    monkeypatch.setattr(opengl, "_osmesa_works", lambda: "osmesa" in works)
    assert opengl.backend() == found
    assert found is not None or not opengl.available()


def test_other_systems_draw_in_their_own_way(monkeypatch, asked_afresh):
    monkeypatch.setattr(opengl.platform, "system", lambda: "Darwin")
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert opengl.backend() == "system"


def test_a_few_sizes_are_kept_and_the_oldest_is_closed(monkeypatch):
    closed = []

    class Fake:
        def __init__(self, width, height, fine):
            self.size = width, height

        def close(self):
            closed.append(self.size)

    monkeypatch.setattr(opengl, "Stage", Fake)
    monkeypatch.setattr(opengl, "_stages", {})
    monkeypatch.setattr(opengl.atexit, "register", lambda function: None)
    first = opengl.stage(10, 10)
    assert opengl.stage(10, 10) is first
    for width in (20, 30, 40, 50):
        opengl.stage(width, 10)
    assert closed == [(10, 10)]
    opengl._close_all()
    assert sorted(closed) == [(width, 10) for width in (10, 20, 30, 40, 50)]
