import sys

import numpy as np
import pytest

from blindsave.draw.window import Window, screen_available


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="screens are detected by X11 or Wayland variables")
def test_without_a_screen_a_window_is_silent_but_for_one_line(monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not screen_available()
    window = Window()
    window.show(np.zeros(12))
    window.close()
    assert capsys.readouterr().err == "blindsave: no screen here, so render_mode='human' shows nothing\n"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="screens are detected by X11 or Wayland variables")
@pytest.mark.parametrize("variable", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_screen_is_found_by_its_variable(monkeypatch, variable):
    monkeypatch.setenv(variable, ":0")
    assert screen_available()
