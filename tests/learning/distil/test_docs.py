"""The how-to is run as it is printed, with a tiny budget."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_bring_your_own_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (DOCS / "bring-your-own.md").read_text(), re.DOTALL)
    tiny = code.replace("= 1500, 1500, 100, 225", "= 20, 10, 2, 3")
    assert tiny != code
    names: dict = {"__name__": "bring_your_own"}
    exec(compile(tiny, "bring-your-own.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["goalkeeper", "leaky/1", "leaky/1"]
    assert names["student"].provenance.notes["episodes"] == 30
    assert names["student"].provenance.stage == "final"


def test_the_dataset_format_names_every_field():
    from blindsave.learning.distil.dataset import EPISODE_FIELDS, STEP_FIELDS

    text = (DOCS / "distillation.md").read_text()
    assert all(f"`{name}`" in text for name in (*STEP_FIELDS, *EPISODE_FIELDS))
