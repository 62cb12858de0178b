"""The how-to for memory cores works as printed."""

import re
from pathlib import Path

import pytest

from blindsave.errors import BadInput
from blindsave.policies.students import Family, MemoryCore, families, family, register, registry

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


def test_a_name_is_taken_once(own_registry):
    class Other(MemoryCore):
        pass

    register("feed_forward", family("feed_forward").core)  # again, the same: harmless
    with pytest.raises(BadInput, match="already is a family"):
        register("feed_forward", family("gru_n64").core)
    with pytest.raises(BadInput, match="letters, digits"):
        register("../evil", Other())


def test_an_unknown_family_is_refused_with_the_known_ones():
    with pytest.raises(BadInput, match="there is no family `lstm`; there are feed_forward"):
        family("lstm")


def test_installed_packages_add_families_by_entry_point(own_registry, monkeypatch):
    class Point:
        name = "from_a_package"

        def load(self):
            return family("gru_n64").core

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()] if group == "blindsave.cores" else [])
    assert isinstance(families()["from_a_package"], Family)
