"""Python in the documentation runs as printed: every page, its blocks in order and with shared names.

A page that trains for minutes as printed runs with a smaller budget, which is all that is changed; the one that trains
most has a test of its own (learning/test_distil_docs.py), and so has the tutorial (test_tutorial.py).
"""

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
ELSEWHERE = {"bring-your-own.md", "tutorial.md"}
PAGES = sorted(path.name for path in DOCS.glob("*.md") if BLOCK.search(path.read_text("utf-8")))
SMALLER = {
    "teacher.md": (
        'Trainer(config, stream, "runs/mine").run()',
        "Trainer(config, stream, folder).run(stop_at_step=16)",
    ),
}
NEEDS = {"teacher.md": "jax", "memory-cores.md": "jax"}


def given(page: str, tmp_path: Path) -> dict:
    """What a page speaks of without making it."""
    if page == "teacher.md":
        from dreamer_cases import Recall

        return {"stream": Recall(4), "folder": tmp_path / "run"}
    return {}


def test_every_special_case_is_a_page():
    assert SMALLER.keys() | ELSEWHERE <= set(PAGES)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_python_runs_as_printed(page, monkeypatch, tmp_path, own_families):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    monkeypatch.chdir(REPOSITORY)
    names = {"__name__": "docs", **given(page, tmp_path)}
    text = (DOCS / page).read_text("utf-8")
    if page in SMALLER:
        assert SMALLER[page][0] in text
        text = text.replace(*SMALLER[page])
    for number, code in enumerate(BLOCK.findall(text)):
        exec(compile(code, f"{page} block {number}", "exec"), names)


def test_links_lead_somewhere():
    for path in [*DOCS.glob("*.md"), REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]:
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text("utf-8")):
            assert link.startswith("http") or (path.parent / link).exists(), f"{path.name}: {link}"
