"""Compilers at hand: found, asked, and reported on."""

import os

import pytest

from blindsave.deploy import toolchain
from blindsave.deploy.c_header import export_c
from blindsave.policies.students.student import Student


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    return export_c(Student.untrained("feed_forward", 1), tmp_path_factory.mktemp("c"))


def script(folder, name: str, text: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_first_compiler_on_the_path_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.compiler() is None
    clang = script(tmp_path, "clang", "exit 0")
    assert toolchain.compiler() == clang
    assert toolchain.compiler() != script(tmp_path, "cc", "exit 0") == toolchain.compiler()


def test_without_a_compiler_nothing_is_claimed(export, monkeypatch):
    monkeypatch.setattr(toolchain, "compiler", lambda: None)
    assert toolchain.self_test_report(export) == {
        "compiled": False,
        "passed": None,
        "message": "no C compiler was found",
        "max_error": None,
    }


def test_a_compiler_that_fails_is_quoted(export, tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "compiler", lambda: script(tmp_path, "cc", "echo 'no such option' >&2; exit 3"))
    report = toolchain.self_test_report(export)
    assert report["passed"] is False and report["message"] == "no such option" and report["max_error"] is None


def test_a_self_test_that_fails_is_reported_with_its_words(export, tmp_path, monkeypatch):
    program = r"#!/bin/sh\necho 3 bits differ; exit 1"
    writes = f'while [ "$1" != "-o" ]; do shift; done; printf "{program}" > "$2"; chmod +x "$2"'
    monkeypatch.setattr(toolchain, "compiler", lambda: script(tmp_path, "cc", writes))
    report = toolchain.self_test_report(export)
    assert (report["passed"], report["message"]) == (False, "3 bits differ")


def test_flags_replace_the_usual_optimisation_and_a_runner_goes_first(export, tmp_path):
    log = tmp_path / "log"
    cc = script(tmp_path, "cc", f'echo "$@" > {log}; while [ "$1" != "-o" ]; do shift; done; touch "$2"')
    runner = script(tmp_path, "emulate", 'echo "emulated $(basename $1)"')
    result = toolchain.run_self_test(export, cc, "-O0", runner=(runner,))
    assert result.stdout == "emulated selftest\n"
    said = log.read_text().split()
    assert "-O0" in said and "-O2" not in said and "-Werror" in said and str(export.self_test) in said


def test_sizes_are_sums_over_sections(export, tmp_path, monkeypatch):
    script(tmp_path, "arm-none-eabi-gcc", "exit 0")
    sections = {".text": 10, ".text.policy_step": 200, ".rodata.w": 3000, ".data": 1, ".bss": 2, ".comment": 99}
    table = "".join(f"{name} {size} 0\\n" for name, size in sections.items())
    script(tmp_path, "arm-none-eabi-size", f"printf '{table}'")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    found = toolchain.arm_size(export)
    assert found is not None
    assert (found["code_bytes"], found["constant_bytes"], found["static_ram_bytes"]) == (210, 3000, 3)
    assert found["state_bytes"] == export.state_bytes


def test_without_the_arm_compiler_there_is_no_size(export, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert toolchain.arm_size(export) is None
    script(tmp_path, "arm-none-eabi-gcc", "exit 0")  # without its companion that measures
    assert toolchain.arm_size(export) is None
