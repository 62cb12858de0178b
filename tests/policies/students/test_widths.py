"""Families of other widths: made from their names, and as good citizens as the paper's."""

from dataclasses import dataclass

import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.policies.students import MemoryCore, families, family, glorot, register, zeros
from blindsave.policies.students.accounting import cost
from blindsave.policies.students.registry import _families, find, only_here
from blindsave.policies.students.sizes import is_kind, with_size
from blindsave.policies.students.student import Student, load_student
from blindsave.policies.students.widths import PAPER, Widths, split_widths
from blindsave.testing import contract

SEED = 14303

pytestmark = pytest.mark.usefixtures("quick_compilation")


@dataclass(frozen=True)
class Fixed(MemoryCore):
    """A core whose author thought of codes of 32 floats only."""

    width: int = 4

    @property
    def memory(self) -> int:
        return self.width

    def init(self, rng, seed):
        return {"W": glorot(rng, self.width, 34), "b": zeros(self.width)}

    def drive(self, ops, p, code, action):
        return (ops.linear(ops.concat(code, action), p["W"], p["b"]),)

    def advance(self, ops, p, memory, drive):
        return 0.5 * memory + drive[0]


@pytest.fixture
def fixed():
    yield register("fixed_n4", Fixed())
    del _families["fixed_n4"]


@pytest.mark.parametrize("name", ["structured_k0_n3_e7_c5_h9", "gru_n1_e1_c1_h1", "structured_k2_n8_c16_h17"])
def test_a_family_of_other_widths_keeps_the_contract(name):
    for check in contract.CHECKS:
        check(family(name))


@pytest.mark.parametrize(
    "name", ["structured_k0_n1_e1_c1_h1", "lru_n3_c6", "mingru_n5_e33", "finite_stack_4_e8_c3_h5", "feed_forward_h130"]
)
def test_more_families_of_other_widths_step_alike_everywhere(name):
    for check in (contract.check_sizes, contract.check_bits):
        check(family(name))


def test_parameters_and_multiplications_follow_the_widths():
    e, c, h, n = 24, 12, 20, 9
    found = cost(family(f"structured_k0_n{n}_e{e}_c{c}_h{h}"))
    assert found.core_parameters == n * (c + 4)
    assert found.parameters == 20 * e + (e + 1) * c + n * (c + 4) + (n + c + 1) * h + 2 * (h + 1)
    assert found.macs == 19 * e + e * c + n * (c + 3) + (n + c) * h + 2 * h
    assert cost(family(f"gru_n{n}_c{c}")).core_parameters == 3 * n * (c + 2 + n + 2)


def test_widths_of_the_paper_give_the_papers_parameters():
    """The field that widths added to every core leaves the published draws alone."""
    params = family("structured_k0").init(SEED)
    narrow_head = family("structured_k0_h16").init(SEED)
    before_head = [name for name in params if not name.startswith("head.")]
    assert all(params[name].tobytes() == narrow_head[name].tobytes() for name in before_head)
    assert params["head.0.weight"].shape == (64, 96) and narrow_head["head.0.weight"].shape == (16, 96)


@pytest.mark.parametrize(
    "widths", [PAPER, Widths(encoder=16), Widths(code=8), Widths(head=1), Widths(16, 8, 16), Widths(1024, 1, 65)]
)
@pytest.mark.parametrize("name", ["structured_k0", "gru_n16", "finite_stack_5", "feed_forward"])
def test_a_name_parses_back(name, widths):
    assert split_widths(widths.behind(name)) == (name, widths)
    found = family(widths.behind(name))
    assert (found.encoder, found.core.code, found.head) == widths
    assert found.name == widths.behind(name)


def test_sizes_go_between_the_kind_and_its_widths():
    assert is_kind("gru_e16_h16") and is_kind("structured_k0_c8") and not is_kind("gru_n4_e16")
    assert with_size("structured_k0_e16_c8_h16", 8) == "structured_k0_n8_e16_c8_h16"
    assert with_size("structured_k0_e16", 64) == "structured_k0_e16"
    assert with_size("finite_stack_h8", 5) == "finite_stack_5_h8"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("structured_k0_n8_e64", "`structured_k0_n8_e64` is called `structured_k0_n8`"),
        ("gru_n8_e16_c32_h64", "is called `gru_n8_e16`"),
        ("structured_k0_n64_e16", "`structured_k0_n64` is called `structured_k0`"),
        ("structured_k0_e0", "widths must be between 1 and 1024"),
        ("feed_forward_h1025", "widths must be between 1 and 1024"),
        ("gru_e16_h16", "`gru_e16_h16` needs a size, for example `gru_n64_e16_h16`"),
        ("finite_stack_c8", "for example `finite_stack_10_c8`"),
        ("structured_k0_h16_e16", "there is no family"),
        ("structured_k0_e16_n8", "there is no family"),
        ("structured_k0_e016", "there is no family"),
        ("_e16", "there is no family"),
        ("nobody_e16", "other widths of all of them, _eENCODER_cCODE_hHEAD"),
        ("structured_k0_e" + "9" * 5000, "there is no family"),
    ],
)
def test_names_that_cannot_be_are_refused_with_the_reason(name, said):
    with pytest.raises(BadInput, match=said):
        family(name)
    assert find(name) is None


def test_a_core_that_reads_one_code_only_may_have_another_encoder_and_head(fixed):
    assert cost(family("fixed_n4_e8_h8")).core_parameters == 4 * 35
    with pytest.raises(BadInput, match="the core of `fixed_n4` reads a code of 32 floats and no other"):
        family("fixed_n4_c8")
    assert only_here("fixed_n4_e8_h8") == only_here("fixed_n4")


def test_nobody_can_give_a_spelled_name_another_meaning():
    with pytest.raises(BadInput, match="there already is a family `gru_n16_e8`"):
        register("gru_n16_e8", Fixed())
    assert "gru_n16_e8" not in families()


def test_an_untrained_student_is_saved_loaded_and_exported_in_every_way(tmp_path):
    from blindsave.deploy.c_header import export_c
    from blindsave.deploy.calibration import recorded
    from blindsave.deploy.integer_header import export_integers
    from blindsave.deploy.onnx_graph import AGREEMENT, export_onnx, onnx_error
    from blindsave.deploy.quantise import integer_policy
    from blindsave.deploy.toolchain import self_test_report

    name = "structured_k0_n3_e5_c7_h9"
    path = tmp_path / f"{SEED}.safetensors"
    Student.untrained(name, SEED).save(path)
    student = load_student(path)
    assert student.family == family(name)
    assert student.parameters["encoder.0.weight"].shape == (5, 19)
    assert self_test_report(export_c(student, tmp_path / "float"))["passed"] in (True, None)
    seen = recorded(student)
    for kind in ("int16", "int8"):
        export = export_integers(integer_policy(student, kind, seen), tmp_path / kind)
        assert self_test_report(export)["passed"] in (True, None)
    error = onnx_error(export_onnx(student, tmp_path / "onnx"), student)
    assert error is None or error <= AGREEMENT


def test_training_is_told_apart_by_the_name_alone():
    assert np.array_equal(family("gru_n4_e8").init(1)["head.1.weight"], family("gru_n4_e8").init(1)["head.1.weight"])
    assert family("gru_n4_e8") != family("gru_n4_e9")
