"""Whole numbers in C: the same bits as the NumPy reference, no overflow, no floating-point unit."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from family_kinds import PLAIN

from blindsave.deploy.c_header import identifier
from blindsave.deploy.integer_header import export_integers
from blindsave.deploy.integers import IntegerPolicy, quantised
from blindsave.deploy.quantise import integer_policy
from blindsave.deploy.toolchain import WARNINGS, arm_size, run_self_test
from blindsave.policies.students import family
from blindsave.policies.students.student import Provenance, Student
from blindsave.testing.contract import observations, randomised_params

SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def need(tool: str) -> None:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")


def policy(name: str, kind: str) -> IntegerPolicy:
    student = Student(family(name), randomised_params(family(name), 3), Provenance(3))
    seen = np.clip(observations(30, 4, seed=5).swapaxes(0, 1), -1, 1).astype(np.float32)
    return integer_policy(student, kind, list(seen))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", ["int8", "int16"])
@pytest.mark.parametrize("name", [*PLAIN, "gru_n8_e8_c8_h8"])
def test_every_family_reproduces_its_bits_without_overflow(name, kind, tmp_path):
    need("gcc")
    result = run_self_test(export_integers(policy(name, kind), tmp_path), "gcc", *SANITIZERS)
    assert result.returncode == 0 and "every bit equal" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("name", ["structured_k2", "gru_n64", "gru_n8_e8_c8_h8"])
def test_reference_and_c_agree_over_two_thousand_steps_of_floats(name, tmp_path):
    need("gcc")
    mine = policy(name, "int8")
    prefix, steps = identifier(mine.name), 2000
    header = export_integers(mine, tmp_path).header
    unit = tmp_path / "unit.c"
    unit.write_text(
        f'#include "{header.name}"\n'
        f"void run(const float *seen, int32_t *carries, float *actions);\n"
        f"void run(const float *seen, int32_t *carries, float *actions) {{\n"
        f"    {prefix}_state s; {prefix}_reset(&s);\n"
        f"    for (int t = 0; t < {steps}; t++) {{\n"
        f"        {prefix}_step_float(&s, seen + 19 * t, actions + 2 * t);\n"
        f"        for (int i = 0; i < {prefix.upper()}_CARRY; i++) *carries++ = s.carry[i];\n    }}\n}}\n"
    )
    library = tmp_path / "unit.so"
    words = ["gcc", *WARNINGS, "-O2", "-shared", "-fPIC", "-o", str(library), str(unit)]
    subprocess.run(words, check=True, capture_output=True)
    seen = np.ascontiguousarray(observations(steps, 1, seed=1)[:, 0] * 1.5, np.float32)  # beyond [-1, 1] too
    seen[17, 3] = np.nan
    carries = np.zeros((steps, mine.program.source.carry), np.int32)
    actions = np.zeros((steps, 2), np.float32)
    ctypes.CDLL(str(library)).run(*(a.ctypes.data_as(ctypes.c_void_p) for a in (seen, carries, actions)))
    carry = mine.initial(1)
    for t in range(steps):
        carry, action = mine.step(carry, seen[t : t + 1])
        assert np.array_equal(carry[0], carries[t]) and np.array_equal(action[0], actions[t])


def test_the_self_test_notices_a_single_changed_weight(tmp_path):
    need("gcc")
    export = export_integers(policy("structured_k0", "int8"), tmp_path)
    text = export.header.read_text()
    place = text.index("static const int8_t")
    first = text.index("\n", place) + 5
    end = text.index(",", first)
    weight = int(text[first:end])
    export.header.write_text(text[:first] + str(weight + (1 if weight < 0 else -1)) + text[end:])
    assert run_self_test(export, "gcc").returncode == 1


def test_a_processor_without_floating_point_needs_no_help_with_it(tmp_path):
    need("arm-none-eabi-gcc")
    export = export_integers(policy("structured_k0", "int8"), tmp_path)
    unit = tmp_path / "unit.c"
    unit.write_text(
        f'#include "{export.header.name}"\n'
        f"void f({export.prefix}_state *s, const int32_t *o, int32_t *a);\n"
        f"void f({export.prefix}_state *s, const int32_t *o, int32_t *a) {{ {export.prefix}_step(s, o, a); }}\n"
    )
    words = ["arm-none-eabi-gcc", *WARNINGS, "-mcpu=cortex-m0", "-mthumb", "-Os", "-c", str(unit), "-o", "unit.o"]
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
    names = subprocess.run(["arm-none-eabi-nm", "-u", "unit.o"], cwd=tmp_path, capture_output=True, text=True).stdout
    used = {line.split()[-1] for line in names.splitlines()}
    assert used <= {"__aeabi_lmul", "__aeabi_llsl", "__aeabi_lasr", "__gnu_thumb1_case_uqi"}
    size = arm_size(export)
    assert size is not None and size["static_ram_bytes"] == 0
    assert size["constant_bytes"] == pytest.approx(export.constant_bytes, abs=64) and size["state_bytes"] == 264


def test_saturation_is_the_same_in_both(tmp_path):
    mine = policy("structured_k0", "int16")
    far = quantised(np.full((1, 19), 7.0, np.float32))
    assert np.array_equal(far, quantised(np.ones((1, 19), np.float32)))
    assert np.abs(mine.program.run(mine.initial(1), far)[1]).max() < 2**23
