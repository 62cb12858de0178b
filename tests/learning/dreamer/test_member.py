"""One teacher of a run, alone or among several."""

import dataclasses

import numpy as np
import pytest
from dreamer_cases import SMALL

from blindsave.learning.dreamer.config import Config, Training
from blindsave.learning.dreamer.member import Member, average

ALONE = Config(SMALL, training=Training(seed=7, envs=2))
THREE = dataclasses.replace(ALONE, training=Training(seed=7, envs=2, population=3))


def test_a_teacher_alone_owns_the_folder_and_every_array(tmp_path):
    member = Member(ALONE, 0, tmp_path)
    array = np.arange(3)
    assert member.folder.root == tmp_path and member.of(array) is array
    assert member.config == ALONE


def test_a_teacher_among_several_has_its_seed_its_folder_and_its_part(tmp_path):
    members = [Member(THREE, index, tmp_path) for index in range(3)]
    assert [m.folder.root.name for m in members] == ["7", "8", "9"]
    assert [m.of(np.array([10, 20, 30])) for m in members] == [10, 20, 30]
    assert members[2].config == dataclasses.replace(ALONE, training=Training(seed=9, envs=2))


def test_its_line_averages_its_own_updates(tmp_path):
    member = Member(THREE, 1, tmp_path)
    assert member.line({"loss": np.array([2.0, 6.0, 9.0])}, 4) == {"loss": 1.5, "episodes": 0}


def test_its_parameters_are_read_like_those_of_a_run(tmp_path):
    member = Member(THREE, 1, tmp_path)
    member.save_params(40, {"actor/kernel": np.arange(6, dtype=np.float32).reshape(3, 2)})
    params, config = member.folder.load_params(40)
    assert params["actor"]["kernel"].tolist() == [2.0, 3.0]
    assert config.training.seed == 8 and config.training.population == 1


def test_one_line_stays_as_it_is():
    line = {"step": 10, "loss": 1.0, "saved_by_group": {"0": 1.0}}
    assert average([line]) == line and average([line]) is not line


def test_of_several_lines_figures_are_averaged_and_speeds_summed():
    lines = [
        {"step": 10, "updates": 4, "loss": 1.0, "steps_per_s": 100.0, "saved": 0.5, "saved_by_group": {"0": 1.0}},
        {"step": 10, "updates": 4, "loss": 2.0, "steps_per_s": 100.0, "saved_by_group": {"0": 0.0}},
    ]
    found = average(lines)
    assert found == {"step": 10, "updates": 4, "loss": 1.5, "steps_per_s": 200.0}
    assert isinstance(found["step"], int) and found["loss"] == pytest.approx(1.5)
