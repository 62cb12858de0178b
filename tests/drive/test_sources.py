"""What is compiled into a loop: nothing that allocates, nothing of libm, in float and in whole numbers."""

import shutil
import subprocess

import pytest

from blindsave.deploy.toolchain import WARNINGS
from blindsave.drive import sources
from blindsave.errors import BadInput

HEAP = {"malloc", "calloc", "realloc", "free", "strdup", "asprintf", "fopen"}


def undefined(folder, *units: str) -> set[str]:
    if not (shutil.which("gcc") and shutil.which("nm")):
        pytest.skip("gcc and nm are needed")
    subprocess.run(["gcc", *WARNINGS, "-O2", "-c", *units], check=True, capture_output=True, cwd=folder)
    objects = [unit.replace(".c", ".o") for unit in units]
    listed = subprocess.run(["nm", "-u", *objects], check=True, capture_output=True, text=True, cwd=folder).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines() if line.strip().startswith("U ")}


@pytest.mark.parametrize("numbers", ["float", "int8"])
def test_the_pure_loop_calls_nothing_but_moves_of_memory(policy, numbers, tmp_path):
    sources.write_sources(policy, tmp_path, numbers)
    assert undefined(tmp_path, "drive.c") <= {"memcpy", "memset", "memcmp", "memmove"}


def test_the_posix_side_never_allocates(policy, tmp_path):
    sources.write_sources(policy, tmp_path)
    assert not undefined(tmp_path, "posix.c") & HEAP


def test_a_board_can_have_the_pure_loop(policy, tmp_path):
    if not shutil.which("arm-none-eabi-gcc"):
        pytest.skip("arm-none-eabi-gcc is not installed")
    sources.write_sources(policy, tmp_path, "int8")
    words = ["arm-none-eabi-gcc", *WARNINGS, "-mcpu=cortex-m0", "-mthumb", "-Os", "-c", "drive.c"]
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)


def test_files_are_listed_and_name_the_policy(policy, tmp_path):
    written = sources.write_sources(policy, tmp_path, "int16")
    assert {path.name for path in written.files} == {path.name for path in tmp_path.iterdir()}
    assert policy.name in (tmp_path / "drive_policy.h").read_text()


def test_without_a_compiler_there_is_one_sentence(policy, tmp_path, monkeypatch):
    written = sources.write_sources(policy, tmp_path)
    monkeypatch.setattr(sources, "compiler", lambda: None)
    with pytest.raises(BadInput, match="no C compiler"):
        sources.build(written)
    monkeypatch.setattr(sources, "compiler", lambda: "false")
    with pytest.raises(BadInput, match="could not be compiled"):
        sources.build(written)
