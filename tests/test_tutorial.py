"""The tutorial's notebook is the tutorial, and runs from top to bottom."""

import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SMALLER = {"SHOTS = 225": "SHOTS = 3", "EPISODES, EPOCHS = 2000, 150": "EPISODES, EPOCHS = 20, 2"}


@pytest.fixture(scope="module")
def maker():
    spec = importlib.util.spec_from_file_location("notebook", DOCS / "_tools" / "notebook.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_and_notebook_are_the_same(maker):
    made = maker.notebook((DOCS / "tutorial.md").read_text("utf-8"))
    assert (DOCS / "tutorial.ipynb").read_text("utf-8") == made, "run `python docs/_tools/notebook.py`"


def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys, own_families):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    document = json.loads((DOCS / "tutorial.ipynb").read_text("utf-8"))
    assert document["nbformat"] == 4
    left, names = dict(SMALLER), {"__name__": "__main__"}
    for number, cell in enumerate(document["cells"]):
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            for whole in [whole for whole in left if whole in code]:
                code = code.replace(whole, left.pop(whole))
            exec(compile(code, f"tutorial.ipynb cell {number}", "exec"), names)
    assert not left
    said = capsys.readouterr().out
    assert "structured_k0/14303 remembers 66 numbers" in said and "two_speeds/1 final" in said
    assert {path.name for path in tmp_path.iterdir()} == {"curve.png", "two_speeds.safetensors"}
