"""Files and modules of one's own: loaded once, known to children, mistakes in one sentence."""

import os

import pytest

from blindsave import plugins
from blindsave.errors import BadInput


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(plugins, "_loaded", {})
    monkeypatch.delenv(plugins.VARIABLE, raising=False)


def test_a_file_is_run_once_and_named_to_children(tmp_path):
    counter = tmp_path / "count"
    file = tmp_path / "mine.py"
    file.write_text(f"import pathlib\np = pathlib.Path({str(counter)!r})\nwith p.open('a') as f: f.write('x')\n")
    plugins.add_plugins([file])
    plugins.add_plugins([file])
    plugins.load_plugins()
    assert counter.read_text() == "x"
    assert os.environ[plugins.VARIABLE] == str(file)


def test_modules_are_imported_by_name():
    plugins.add_plugins(["colorsys"])
    assert plugins.travels("colorsys") and not plugins.travels("__main__") and plugins.travels("blindsave.task.faults")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("1 / 0", "failed: ZeroDivisionError"),
        ("def (", "failed: SyntaxError"),
        ("from blindsave.errors import BadInput\nraise BadInput('not so')", "not so"),
    ],
)
def test_a_plugin_that_breaks_is_one_sentence_and_can_be_tried_again(tmp_path, content, says):
    file = tmp_path / "mine.py"
    file.write_text(content)
    for _ in range(2):
        with pytest.raises(BadInput, match=says):
            plugins.add_plugins([file])


@pytest.mark.parametrize("name", ["nobody.py", "no_such_module_anywhere"])
def test_a_plugin_that_is_not_there_is_one_sentence(name):
    with pytest.raises(BadInput, match=name):
        plugins.add_plugins([name])
