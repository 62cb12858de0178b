"""The exported C header: the policy's bits, on every compiler and processor at hand."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from blindsave.deploy.c_header import CExport, export_c, header_text, identifier, record
from blindsave.deploy.toolchain import WARNINGS, arm_size, compiler, run_self_test, self_test_report
from blindsave.errors import BadInput
from blindsave.policies.native import ProgramPolicy
from blindsave.policies.students import families, family
from blindsave.policies.students.student import Provenance, Student
from blindsave.policies.trace import trace
from blindsave.testing.contract import observations, randomised_params, same_bits

F = np.float32
ONE_OF_EACH = ("finite_stack_10", "structured_k2", "gru_n64")


def student(name: str, seed: int = 14303) -> Student:
    return Student(family(name), randomised_params(family(name), seed), Provenance(seed))


def need(*tools: str) -> None:
    for tool in tools:
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")


def passes(export: CExport, cc: str, *flags: str, runner: tuple[str, ...] = ()) -> None:
    result = run_self_test(export, cc, *flags, runner=runner)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "every bit equal" in result.stdout


@pytest.mark.parametrize("name", families())
def test_every_family_reproduces_its_bits_from_c(name, tmp_path):
    need("gcc")
    passes(export_c(student(name), tmp_path), "gcc", "-O2")


SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


@pytest.mark.parametrize("name", ONE_OF_EACH)
@pytest.mark.parametrize("cc", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [("-O3", "-march=native", "-std=gnu99"), ("-O1", *SANITIZERS)], ids=["fast", "sane"])
def test_optimised_and_sanitised_builds_reproduce_the_bits(name, cc, flags, tmp_path):
    need(cc)
    passes(export_c(student(name), tmp_path), cc, *flags)


def test_the_bits_hold_on_arm(tmp_path):
    need("arm-linux-gnueabihf-gcc", "qemu-arm")
    for name in ("structured_k2", "gru_n64"):
        export = export_c(student(name), tmp_path)
        flags = ("-O2", "-static", "-mcpu=cortex-a7", "-mfpu=vfpv4", "-std=gnu99")
        passes(export, "arm-linux-gnueabihf-gcc", *flags, runner=("qemu-arm",))


def test_a_microcontroller_can_hold_it(tmp_path):
    need("arm-none-eabi-gcc")
    size = arm_size(export_c(student("structured_k0"), tmp_path))
    assert size is not None
    assert size["static_ram_bytes"] == 0 and size["state_bytes"] == 264
    assert 0 < size["code_bytes"] < 4096 and 47_000 < size["constant_bytes"] < 49_000


def test_the_self_test_notices_a_single_changed_bit(tmp_path):
    need("gcc")
    export = export_c(student("structured_k0"), tmp_path)
    text = export.self_test.read_text()
    place = text.index("actions[STEPS]")
    place = text.index("0x", place)
    changed = f"0x{int(text[place + 2 : place + 10], 16) ^ 1:08X}"
    export.self_test.write_text(text[:place] + changed + text[place + 10 :])
    result = run_self_test(export, "gcc")
    assert result.returncode == 1 and "step 0 differs" in result.stdout


def compiled(policies: list[ProgramPolicy], folder) -> list:
    """One shared library with the exported steps of several policies, as ctypes functions (carry, seen, action)."""
    lines = []
    for policy in policies:
        name = identifier(policy.name)
        (folder / f"{name}.h").write_text(header_text(policy.program, policy.name))
        lines.append(f'#include "{name}.h"')
        lines.append(
            f"void run_{name}(float *carry, const float *seen, float *carries, float *actions, int steps) {{\n"
            f"    {name}_state s; const size_t size = {name.upper()}_CARRY * sizeof(float);\n"
            f"    {name}_reset(&s); memcpy(s.carry, carry, size);\n"
            f"    for (int t = 0; t < steps; t++) {{\n"
            f"        {name}_step(&s, seen + 19 * t, actions + 2 * t);\n"
            f"        memcpy(carries + {name.upper()}_CARRY * t, s.carry, size);\n"
            f"    }}\n}}"
        )
    (folder / "all.c").write_text("\n".join(lines) + "\n")
    library = folder / "all.so"
    command = ["gcc", *WARNINGS, "-O2", "-shared", "-fPIC", "-o", str(library), str(folder / "all.c")]
    subprocess.run(command, check=True, capture_output=True)
    loaded = ctypes.CDLL(str(library))
    return [getattr(loaded, f"run_{identifier(policy.name)}") for policy in policies]


@pytest.mark.parametrize("name", families())
def test_reference_kernel_and_header_agree_over_two_thousand_steps(name, tmp_path):
    """The bar asks for twenty draws; BLINDSAVE_DRAWS=20 runs them all, two are enough for every day."""
    import os

    need("gcc")
    steps = 2000
    students = [student(name, seed) for seed in range(int(os.environ.get("BLINDSAVE_DRAWS", "2")))]
    for policy, run in zip(students, compiled(list(students), tmp_path), strict=True):
        seen = observations(steps, 1, seed=policy.provenance.seed)[:, 0]
        carries, actions = policy.unroll(seen)
        c_carries, c_actions = np.zeros_like(carries), np.zeros_like(actions)
        arrays = (policy.initial(1), np.ascontiguousarray(seen), c_carries, c_actions)
        run(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays), steps)
        assert same_bits((carries, actions), (c_carries, c_actions))
        before = np.concatenate((np.zeros_like(carries[:1]), carries[:-1]))
        for part in np.array_split(np.arange(steps), 8):
            found = policy.program.run(before[part], seen[part])
            assert same_bits((carries[part], actions[part]), found)


def test_all_operations_of_a_larger_network_are_exported(tmp_path):
    need("gcc")
    rng = np.random.default_rng(0)
    weight, blocks = rng.normal(size=(33, 19)).astype(F), rng.normal(size=(4, 6, 5)).astype(F)
    scale = rng.normal(size=33).astype(F)

    def step(ops, carry, seen):
        x = ops.rmsnorm(ops.linear(ops.symlog(3.0 * seen), weight), scale, 1e-4)
        y = ops.linear(ops.bound(x[..., :20]), blocks, carry)
        z = ops.onehot(y, 4) + ops.sqrt(ops.exp(y) / ops.log(2.0 + ops.maximum(y, 0.5))) - ops.minimum(y, 0.25)
        return z * 0.1, ops.tanh(z[..., 3:5])

    policy = ProgramPolicy("every/op", trace(step, carry=24, observation=19))
    export = export_c(policy, tmp_path)
    assert "#include <math.h>" in export.header.read_text()
    passes(export, "gcc", "-O2")


def test_students_do_not_need_libm(tmp_path):
    assert all("math.h" not in header_text(student(name).program, name) for name in families())


def test_recordings_are_closed_loops():
    policy = student("structured_k0")
    seen, carries, actions = record(policy, 10)
    assert seen.shape == (10, 19) and np.array_equal(carries[:, -2:], actions)


def test_the_report_says_that_every_bit_agreed(tmp_path):
    if compiler() is None:
        pytest.skip("no C compiler")
    assert self_test_report(export_c(student("feed_forward"), tmp_path))["passed"] is True


@pytest.mark.parametrize(
    ("name", "expected"), [("structured_k0/14303", "structured_k0_14303"), ("9 lives", "policy_9_lives")]
)
def test_names_become_identifiers(name, expected):
    assert identifier(name) == expected


def test_policies_that_are_not_programs_are_refused(tmp_path):
    class Scripted:
        name = "scripted"

    with pytest.raises(BadInput, match="cannot be exported"):
        export_c(Scripted(), tmp_path)  # pyright: ignore[reportArgumentType]
