"""What may be called a teacher, under which name it takes part, and when its actions can be sampled."""

import shutil

import numpy as np
import pytest
from tiny_teachers import frozen_teacher, frozen_with_agent, training

from blindsave import tensors
from blindsave.diagnostics.teacher_files import find_teacher, find_teachers
from blindsave.errors import BadFile, BadInput
from blindsave.store import sha256_file


def test_a_folder_that_holds_a_teacher_is_that_teacher(tmp_path):
    file = frozen_teacher(tmp_path / "seed_7/teacher/teacher.safetensors", 7)
    for text in (file, file.parent, tmp_path / "seed_7"):
        found = find_teacher(str(text))
        assert (found.name, found.file, found.sha256) == ("seed_7", file, sha256_file(file))
        assert found.about == {"seed": 7, "step": 60} and not found.can_be_sampled


def test_the_shipped_teacher_keeps_its_name_whatever_it_is_called_by():
    found = find_teacher("teacher")
    assert found.name == "teacher" == find_teacher(str(found.file)).name
    assert {"seed", "step", "timeouts"} == found.about.keys()


def test_a_teacher_can_be_sampled_from_its_own_agent_beside_it_and_from_no_other(tmp_path):
    pytest.importorskip("jax")
    file = frozen_with_agent(tmp_path)
    found = find_teacher(str(file))
    assert found.agent == file.with_name("agent.safetensors") and found.can_be_sampled
    shutil.copy(tmp_path / "run/params/000000020.safetensors", found.agent)
    assert find_teacher(str(file)).agent is None


def test_frozen_teachers_find_their_agents_in_the_trainings_that_are_named(tmp_path):
    pytest.importorskip("jax")
    file = frozen_with_agent(tmp_path)
    file.with_name("agent.safetensors").unlink()
    other = frozen_teacher(tmp_path / "other.safetensors", 1)
    run, params = tmp_path / "run", tmp_path / "run/params/000000040.safetensors"
    for agent in (run, params):
        one, lone = find_teachers([str(file), str(other)], [agent])
        assert one.agent == params and lone.agent is None
    assert find_teachers([str(params)])[0].agent == params  # a training's own file needs no other
    with pytest.raises(BadInput, match="none of the teachers was frozen from"):
        find_teachers([str(file)], [tmp_path / "run/params/000000020.safetensors"])
    with pytest.raises(BadFile, match="gone"):
        find_teachers([str(file)], [tmp_path / "gone"])


def test_the_agent_plays_as_the_teacher_frozen_from_it(tmp_path):
    pytest.importorskip("jax")
    teacher = find_teacher(str(frozen_with_agent(tmp_path)))
    agent = find_teacher(str(teacher.agent))
    observation = np.random.default_rng(0).uniform(-1, 1, (4, 19)).astype(np.float32)
    (_, one), (_, other) = (p.step(p.initial(4), observation) for p in (teacher.policy, agent.policy))
    assert one.tobytes() == other.tobytes()
    assert agent.about == teacher.about == {"seed": 7, "step": 40, "timeouts": "truncate"}


def test_a_trainings_folder_means_its_selected_checkpoint(tmp_path):
    pytest.importorskip("jax")
    folder = training(tmp_path / "run_a", (20, 40, 60), selected=40)
    found = find_teacher(str(folder))
    assert found.file == folder / "params/000000040.safetensors" == found.agent
    assert found.name == "run_a" and found.about["step"] == 40
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
    cases = {
        "nobody": "there is no policy `nobody`",
        "privileged": "privileged reads the truth",
        str(tmp_path / "empty"): "holds neither teacher.safetensors nor a training's params/",
        str(tmp_path / "text.safetensors"): "text.safetensors",
        str(tmp_path / "text.txt"): "text.txt",
        str(tmp_path / "gone.safetensors"): "there is no policy file",
    }
    for text, sentence in cases.items():
        with pytest.raises((BadFile, BadInput), match=sentence) as caught:
            find_teachers(["teacher", text])
        assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match="at least one teacher"):
        find_teachers([])


def test_a_damaged_or_foreign_parameter_file_is_refused(tmp_path):
    pytest.importorskip("jax")
    file = training(tmp_path / "run") / "params/000000040.safetensors"
    arrays, about = tensors.read(file)
    tensors.write(file, arrays, about | {"checksum": "0"})
    with pytest.raises(BadFile, match="its content does not match its checksum"):
        find_teacher(str(file))
    tensors.write(file, arrays, about | {"config": {"sizes": {}}})
    with pytest.raises(BadFile, match="not a parameter file of this agent"):
        find_teacher(str(file))
