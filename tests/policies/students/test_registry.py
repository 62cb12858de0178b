"""The registry of families: names, refusals, packages that add to it."""

import pytest

from blindsave.errors import BadInput
from blindsave.policies.students import Family, MemoryCore, families, family, register, registry


@pytest.fixture
def own_registry(monkeypatch):
    monkeypatch.setattr(registry, "_families", dict(registry._families))


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
