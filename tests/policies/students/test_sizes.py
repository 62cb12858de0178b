"""Families of other sizes: made from their names, and as good citizens as the registered ones."""

import numpy as np
import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.policies import catalog, files
from blindsave.policies.students import MemoryCore, families, family, register
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.registry import find
from blindsave.policies.students.sizes import core_named, with_size
from blindsave.policies.students.student import Student
from blindsave.testing import contract

SEED = 14303

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("name", ["structured_k0_n32", "structured_k3_n9", "gru_n7", "finite_stack_3"])
def test_a_generated_core_keeps_the_contract(name):
    for check in contract.CHECKS:
        check(family(name))


@pytest.mark.parametrize("name", ["lru_n5", "mingru_n128", "structured_k8_n32"])
def test_more_generated_cores_step_alike_everywhere(name):
    for check in (contract.check_sizes, contract.check_history_matters, contract.check_bits):
        check(family(name))


@pytest.mark.parametrize("name", families())
def test_every_sized_family_of_the_registry_is_what_its_name_spells(name):
    assert core_named(name) in (None, family(name).core)
    assert (core_named(name) is None) == (name == "feed_forward")


def test_parameters_memory_and_multiplications_follow_the_size():
    for n in (1, 8, 32, 128):
        found = cost(family(f"structured_k0_n{n}"))
        assert found.recurrent_bytes == 4 * n
        assert found.carry_bytes == 4 * (n + 2)
        assert found.core_parameters == n + 32 * n + 2 * n + n
        assert found.macs == 19 * 64 + 64 * 32 + n + 34 * n + (n + 32) * 64 + 64 * 2
    assert cost(family("lru_n8")).recurrent_bytes == 4 * 2 * 8
    assert cost(family("gru_n16")).core_parameters == 3 * 16 * (34 + 16 + 2)
    assert cost(family("mingru_n16")).core_parameters == 2 * 16 * 35
    assert cost(family("finite_stack_5")).carry_bytes == 4 * 3 * 5
    assert cost(family("structured_k3")).macs == cost(family("structured_k0")).macs + 3 * (64 + 64 + 34)


def test_the_rank_leaves_other_draws_alone_at_every_size():
    reference = family("structured_k0_n32").init(SEED)
    for rank in (1, 2, 3, 8):
        params = family(f"structured_k{rank}_n32").init(SEED)
        assert all(params[name].tobytes() == array.tobytes() for name, array in reference.items())
        assert params["core.U"].shape == (32, rank)


def test_a_size_gives_the_one_name_of_its_family():
    assert with_size("structured_k0", 64) == "structured_k0"
    assert with_size("structured_k2", 16) == "structured_k2_n16"
    assert with_size("gru", 64) == "gru_n64"
    assert with_size("finite_stack", 10) == "finite_stack_10"
    with pytest.raises(BadInput, match="`structured_k0_n64` is called `structured_k0`"):
        family("structured_k0_n64")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gru", "`gru` needs a size, for example `gru_n64`"),
        ("finite_stack", "for example `finite_stack_10`"),
        ("gru_n0", "between 1 and 1024"),
        ("mingru_n1025", "between 1 and 1024"),
        ("finite_stack_127", "between 1 and 126"),
        ("structured_k9_n8", "9 nonlinear modes need at least as many memory cells"),
        ("structured_k65", "65 nonlinear modes"),
        ("gru_n016", "there is no family"),
        ("structured_k0_n32_n16", "there is no family"),
        ("gru_n" + "9" * 5000, "there is no family"),
    ],
)
def test_names_that_cannot_be_are_refused_with_the_reason(name, said):
    with pytest.raises(BadInput, match=said):
        family(name)
    assert find(name) is None


def test_nobody_can_give_a_spelled_name_another_meaning():
    class Other(MemoryCore):
        pass

    with pytest.raises(BadInput, match="there already is a family `gru_n16`"):
        register("gru_n16", Other())
    assert "gru_n16" not in families()


def test_an_untrained_student_is_saved_loaded_exported_and_evaluated(tmp_path, monkeypatch):
    from blindsave.deploy.c_header import export_c
    from blindsave.deploy.toolchain import self_test_report
    from blindsave.evidence.grid import grid
    from blindsave.evidence.schedule import schedule
    from blindsave.policies.catalog import from_file
    from blindsave.report.costs import read_costs
    from blindsave.task.shots import shots

    path = tmp_path / "students" / "structured_k0_n32" / f"{SEED}.safetensors"
    path.parent.mkdir(parents=True)
    Student.untrained("structured_k0_n32", SEED).save(path)
    monkeypatch.setenv(catalog.MODELS_VARIABLE, str(tmp_path))
    student = catalog.load(f"structured_k0_n32/{SEED}")
    assert isinstance(student, Student)
    assert student.family == family("structured_k0_n32")
    assert student.initial(1).shape == (1, 34)

    report = self_test_report(export_c(student, tmp_path / "out"))
    assert report["passed"] in (True, None), report

    chosen = schedule("validation", (20,), members=shots("validation")[:4])
    table = grid(tmp_path / "work", [from_file(path)], chosen)
    assert table["policy"].unique().to_pylist() == ["structured_k0_n32"]
    assert read_costs(tmp_path, ["structured_k0_n32", "teacher"]).families["structured_k0_n32"].carry_bytes == 136


def test_a_file_of_a_size_that_cannot_be_is_refused_by_name(tmp_path):
    path = tmp_path / "odd.safetensors"
    Student.untrained("gru_n16", SEED).save(path)
    tensors, metadata = files.read_policy(path)
    files.write_policy(path, {k: np.array(v) for k, v in tensors.items()}, {**metadata, "family": "gru_n2000"})
    with pytest.raises(BadFile, match="family `gru_n2000` is not registered"):
        catalog.load_file(path)
