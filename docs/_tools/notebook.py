"""The tutorial as a notebook: `python docs/_tools/notebook.py` writes docs/tutorial.ipynb from docs/tutorial.md.

A page and its notebook cannot drift apart: a test compares them.
"""

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "tutorial.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")
BLOCK = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def cells(text: str) -> list[dict[str, Any]]:
    """Prose as Markdown cells, Python blocks as code cells."""
    found = []
    for number, part in enumerate(BLOCK.split(text)):
        if part.strip():
            kind = ("markdown", "code")[number % 2]
            source = part.strip().splitlines(keepends=True)
            cell = {"cell_type": kind, "id": f"part-{number}", "metadata": {}, "source": source}
            found.append(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))
    return found


def notebook(text: str) -> str:
    """The whole document (nbformat 4.5)."""
    head = {"metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({"cells": cells(text)} | head, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(notebook(PAGE.read_text("utf-8")), "utf-8")
