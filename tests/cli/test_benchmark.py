"""`blindsave benchmark` as a user calls it, at a toy budget."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blindsave import cli
from blindsave.benchmark import budget as budgets
from blindsave.errors import BadFile, BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.policies.students import registry

CORE = """
from dataclasses import dataclass

from blindsave.policies.students import MemoryCore, glorot, register, zeros


@dataclass(frozen=True)
class Leaky(MemoryCore):
    width: int = 8

    @property
    def memory(self):
        return self.width

    def init(self, rng, seed):
        return {"W": glorot(rng, self.width, 34), "b": zeros(self.width)}

    def drive(self, ops, p, code, action):
        return (ops.tanh(ops.linear(ops.concat(code, action), p["W"], p["b"])),)

    def advance(self, ops, p, memory, drive):
        return 0.9 * memory + drive[0]


register("leaky_n8", Leaky())
"""


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    recipe = Recipe(epochs=1, batch=16)
    small = replace(budgets.TRIAL, base_episodes=20, own_episodes=20, recipe=recipe, every=60, faults=("stale",))
    monkeypatch.setattr(budgets, "TRIAL", small)


def run(capsys, *words: str) -> dict:
    cli.execute(["benchmark", *words, "--trial", "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_core_of_ones_own_gets_a_page_and_the_same_bytes_twice(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(registry, "_families", dict(registry._families))  # other tests have a core of this name, too
    (tmp_path / "mine.py").write_text(CORE)
    words = ("--core", "leaky_n8", "--plugin", str(tmp_path / "mine.py"))
    first = run(capsys, *words, "--out", str(tmp_path / "a"))
    run(capsys, *words, "--out", str(tmp_path / "b"))
    assert first["cores"][0]["core"] == "leaky_n8"
    assert Path(first["page"]).read_text("utf-8").count("<svg") == 4
    made = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(made) == 2 + 2 * 2  # page, figures, and a student per task and seed
    for name in made:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_figures_can_be_put_among_references(tmp_path, capsys):
    shelf = tmp_path / "shelf.json"
    run(capsys, "--core", "planner", "--out", str(tmp_path / "a"), "--add-to", str(shelf))
    run(capsys, "--core", "kalman", "--out", str(tmp_path / "b"), "--add-to", str(shelf))
    assert [one["core"] for one in json.loads(shelf.read_text())["cores"]] == ["planner", "kalman"]


def test_mistakes_are_said_before_anything_is_trained(tmp_path):
    with pytest.raises(BadInput, match="there is no family `nobody`"):
        cli.execute(["benchmark", "--core", "nobody"])
    (tmp_path / "r.json").write_text("{}")
    with pytest.raises(BadFile, match="another benchmark"):
        cli.execute(["benchmark", "--core", "gru_n1", "--references", str(tmp_path / "r.json"), "--out", str(tmp_path)])
