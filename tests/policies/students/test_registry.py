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
    with pytest.raises(BadInput, match="there is no family `hopfield`; there are feed_forward"):
        family("hopfield")


def test_installed_packages_add_families_by_entry_point(own_registry, monkeypatch):
    class Point:
        name = "from_a_package"

        def load(self):
            return family("gru_n64").core

    monkeypatch.setattr(registry, "entry_points", lambda group: [Point()] if group == "blindsave.cores" else [])
    assert isinstance(families()["from_a_package"], Family)


@pytest.mark.parametrize("name", ["gru", "lru", "finite_stack"])
def test_a_kind_without_a_size_is_told_an_example(name):
    with pytest.raises(BadInput, match=f"`{name}` needs a size, for example `{name}_n?[0-9]+`"):
        family(name)


def test_a_name_that_spells_a_core_cannot_mean_another(own_registry):
    with pytest.raises(BadInput, match="already is a family `gru_n16`"):
        register("gru_n16", family("gru_n17").core)
    assert register("gru_n16", family("gru_n16").core) == family("gru_n16")
    assert "gru_n16" in families()


def test_find_answers_none_where_family_refuses():
    assert registry.find("hopfield") is None
    assert registry.find("structured_k9_n4") is None  # more modes than cells
    assert registry.find("structured_k0") is family("structured_k0")


def test_the_families_of_the_study_are_registered_first_and_in_their_order():
    assert tuple(families())[:7] == registry.PAPER_FAMILIES


def test_the_given_dictionary_is_a_copy():
    families().clear()
    assert "gru_n64" in families()
