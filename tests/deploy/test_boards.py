"""Policies on emulated microcontrollers: the same bits there, and sizes that fit."""

import shutil

import numpy as np
import pytest

from blindsave.deploy import boards
from blindsave.deploy.c_header import export_c
from blindsave.deploy.integer_header import export_integers
from blindsave.deploy.quantise import integer_policy
from blindsave.errors import BadInput
from blindsave.policies.students.student import Student
from blindsave.testing.contract import observations


@pytest.fixture(scope="module")
def student():
    return Student.untrained("structured_k0", 14303)


def need_tools() -> None:
    if missing := boards.missing_tools():
        pytest.skip(f"{', '.join(missing)} not installed")


def whole(student, tmp_path):
    seen = np.clip(observations(30, 4, seed=5).swapaxes(0, 1), -1, 1).astype(np.float32)
    return export_integers(integer_policy(student, "int8", list(seen)), tmp_path)


def test_whole_numbers_fit_into_16_kilobytes_and_keep_their_bits_without_a_floating_point_unit(student, tmp_path):
    need_tools()
    found = boards.measure(whole(student, tmp_path), boards.BOARDS["m3"], "-Os")
    assert found["ok"] and "every bit equal" in found["self_test"]
    assert found["flash_bytes"] <= 16_384 and found["stack_bytes"] < 2048 and found["state_bytes"] == 264
    assert 11_776 < found["instructions_per_step"] < 200_000


def test_floats_keep_their_bits_with_a_floating_point_unit_and_take_longer_without(student, tmp_path):
    need_tools()
    export = export_c(student, tmp_path)
    with_unit = boards.measure(export, boards.BOARDS["m4"], "-Os")
    without = boards.measure(export, boards.BOARDS["m3"], "-Os")
    assert with_unit["ok"] and without["ok"]
    assert without["instructions_per_step"] > 5 * with_unit["instructions_per_step"]


def test_a_wrong_bit_is_noticed_on_the_board(student, tmp_path):
    need_tools()
    export = whole(student, tmp_path)
    text = export.self_test.read_text()
    place = text.index("    {", text.index("actions[STEPS]")) + 5
    end = text.index(",", place)
    export.self_test.write_text(text[:place] + str(int(text[place:end]) + 1) + text[end:])
    found = boards.measure(export, boards.BOARDS["m3"], "-Os")
    assert not found["ok"] and "differs" in found["self_test"]


def test_without_the_tools_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    with pytest.raises(BadInput, match="apt-get install qemu-system-arm"):
        boards.need_tools()
