"""The how-to for memory cores works as printed."""

import re
from pathlib import Path

import pytest

from blindsave.policies.students import families, registry

PAGE = Path(__file__).parents[3] / "docs" / "memory-cores.md"


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_families", dict(registry._families))


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_printed_core_registers_and_trains(own_registry):
    shared = {}
    for block in blocks():
        if "check_core" not in block:  # the contract runs on its own copy of this core elsewhere
            exec(block, shared)
    assert "leaky_n8" in families()
    assert [student.name for student in shared["fitted"].students] == ["leaky_n8/14303", "leaky_n8/14304"]
    program = families()["leaky_n8"].program(families()["leaky_n8"].init(1))
    assert program.carry == 10


def test_every_registered_family_is_in_the_table():
    text = PAGE.read_text(encoding="utf-8")
    for name in families():
        assert f"`{name}`" in text or f"`_{name.split('_')[-1]}`" in text, name
