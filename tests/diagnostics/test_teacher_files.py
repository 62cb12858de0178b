"""What may be called a teacher, under which name it takes part, and when its actions can be sampled."""

import shutil

import numpy as np
import pytest
from tiny_teachers import frozen_teacher, training

from blindsave.diagnostics.teacher_files import find_teacher, find_teachers
from blindsave.errors import BadFile, BadInput
from blindsave.store import sha256_file


def test_a_folder_that_holds_a_teacher_is_that_teacher(tmp_path):
    file = frozen_teacher(tmp_path / "seed_7/teacher/teacher.safetensors", 7)
    for text in (file, file.parent, tmp_path / "seed_7"):
        found = find_teacher(str(text))
        assert (found.name, found.file, found.sha256) == ("seed_7", file, sha256_file(file))
        assert found.about == {"seed": 7, "step": 60} and not found.can_be_sampled


def test_the_shipped_teacher_keeps_its_name_and_can_be_sampled_from_the_agent_beside_it():
    found = find_teacher("teacher")
    assert found.name == "teacher" and found.agent is not None and found.agent.name == "agent.safetensors"
    assert find_teacher(str(found.file)).name == "teacher"
    assert found.about == {"seed": 7303, "step": 980_000}


def test_an_agent_that_is_not_the_teachers_own_is_left_alone(tmp_path):
    shipped = find_teacher("teacher")
    assert shipped.agent is not None
    file = frozen_teacher(tmp_path / "teacher.safetensors", 1, {"source_sha256": "ab" * 32})
    shutil.copy(shipped.agent, tmp_path / "agent.safetensors")
    assert find_teacher(str(file)).agent is None
    frozen_teacher(file, 1, {"source_sha256": sha256_file(shipped.agent)})
    assert find_teacher(str(file)).agent == tmp_path / "agent.safetensors"


def test_the_agent_plays_as_the_teacher_frozen_from_it():
    teacher = find_teacher("teacher")
    agent = find_teacher(str(teacher.agent))
    observation = np.random.default_rng(0).uniform(-1, 1, (4, 19)).astype(np.float32)
    (_, one), (_, other) = (p.step(p.initial(4), observation) for p in (teacher.policy, agent.policy))
    assert one.tobytes() == other.tobytes()
    assert agent.about == teacher.about and agent.agent == teacher.agent


def test_a_trainings_folder_means_its_selected_checkpoint(tmp_path):
    pytest.importorskip("jax")
    folder = training(tmp_path / "run_a", (20, 40, 60), selected=40)
    found = find_teacher(str(folder))
    assert found.file == folder / "params/000000040.safetensors" == found.agent
    assert found.name == "run_a" and found.about == {"seed": 7, "step": 40}
    (folder / "validation.json").unlink()
    with pytest.raises(BadFile, match="validate"):
        find_teacher(str(folder))


def test_teachers_of_one_name_are_told_apart_and_no_teacher_takes_part_twice(tmp_path):
    one = frozen_teacher(tmp_path / "a/x.safetensors", 1)
    other = frozen_teacher(tmp_path / "b/x.safetensors", 2)
    names = [found.name for found in find_teachers([str(one), str(other), "teacher"])]
    assert names == [f"x@{sha256_file(one)[:8]}", f"x@{sha256_file(other)[:8]}", "teacher"]
    copy = shutil.copy(one, tmp_path / "copy.safetensors")
    with pytest.raises(BadInput, match="are the same teacher"):
        find_teachers([str(one), str(other), str(copy)])


def test_what_is_no_teacher_is_refused_with_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.safetensors").write_text("no tensors")
    (tmp_path / "text.txt").write_text("no tensors")
    damaged = tmp_path / "damaged.safetensors"
    agent = find_teacher("teacher").agent
    assert agent is not None
    damaged.write_bytes(agent.read_bytes()[:-4] + b"abcd")
    cases = {
        "nobody": "there is no policy `nobody`",
        "privileged": "privileged reads the truth",
        str(tmp_path / "empty"): "holds neither teacher.safetensors nor a training's params/",
        str(tmp_path / "text.safetensors"): "text.safetensors",
        str(tmp_path / "text.txt"): "text.txt",
        str(tmp_path / "gone.safetensors"): "there is no policy file",
        str(damaged): "its content does not match its checksum",
    }
    for text, sentence in cases.items():
        with pytest.raises((BadFile, BadInput), match=sentence) as caught:
            find_teachers(["teacher", text])
        assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="at least one teacher"):
        find_teachers([])
