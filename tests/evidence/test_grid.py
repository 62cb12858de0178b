"""Paired grids on the real simulator, with a few shots and untrained students."""

import numpy as np
import pytest

from blindsave import store
from blindsave.errors import BadFile, BadInput
from blindsave.evidence import grid as grids
from blindsave.evidence import tables
from blindsave.evidence.schedule import Schedule, noise_levels, schedule
from blindsave.policies.catalog import NamedPolicy, from_file, resolve
from blindsave.policies.students.student import Student
from blindsave.task.conditions import CLEAN
from blindsave.task.shots import shots

FEW = schedule("validation", (0, 20), ("clean", "noise_5mm"), shots("validation")[:4])


@pytest.fixture(scope="module")
def student(tmp_path_factory) -> NamedPolicy:
    path = tmp_path_factory.mktemp("models") / "student.safetensors"
    Student.untrained("structured_k0", 14303).save(path)
    return resolve(path)


@pytest.fixture(scope="module")
def inactive() -> NamedPolicy:
    return resolve("inactive")


def test_a_grid_is_shot_major_then_length_then_disturbance():
    assert len(FEW) == len(FEW.episodes()) == len(FEW.layout) == 16
    cells = [FEW.layout.cell(place) for place in range(4)]
    assert [cell[1:] for cell in cells] == [(0, "clean"), (0, "noise_5mm"), (20, "clean"), (20, "noise_5mm")]
    for place, episode in enumerate(FEW.episodes()):
        row, blackout, disturbance = FEW.layout.cell(place)
        assert row.shot_id == episode.shot.id
        assert int((~episode.tracking.visible).sum()) == blackout
        assert (episode.tracking.offset is None) == (disturbance == "clean")


def test_a_grid_names_what_it_holds_twice():
    with pytest.raises(BadInput, match="blackout length 5 is named twice"):
        schedule("validation", (5, 5))
    with pytest.raises(BadInput, match="condition clean is named twice"):
        Schedule("validation", shots("validation")[:1], (0,), (CLEAN, CLEAN))
    with pytest.raises(BadInput, match="at least one blackout length"):
        schedule("validation", ())


def test_policies_are_resolved_by_name_and_by_file(student, inactive, tmp_path):
    assert (student.family, student.training_seed, student.name) == ("structured_k0", 14303, "structured_k0/14303")
    assert (inactive.family, inactive.training_seed, inactive.name) == ("inactive", 0, "inactive")
    with pytest.raises(BadInput, match="no policy `nobody`"):
        resolve("nobody")
    Student.untrained("gru_n64", 14305).save(tmp_path / "gru.safetensors")
    with pytest.raises(BadFile, match="holds gru_n64/14305, not structured_k0/14305"):
        from_file(tmp_path / "gru.safetensors", "structured_k0", 14305)


def test_threads_and_companions_do_not_change_a_row(student, inactive, tmp_path):
    alone = grids.play(student, FEW, threads=1)
    together = grids.grid(tmp_path, [inactive, student], FEW, threads=2)
    assert together.slice(16).equals(alone)


def test_the_same_grid_is_played_once(student, tmp_path, monkeypatch):
    first = grids.grid(tmp_path, [student], FEW)
    monkeypatch.setattr(grids, "play", lambda *_, **__: pytest.fail("played twice"))
    assert grids.grid(tmp_path, [student], FEW).equals(first)


def test_a_crash_costs_only_the_policy_that_was_playing(student, inactive, tmp_path, monkeypatch):
    real, played = grids.play, []

    def fragile(one, *args, **kwargs):
        played.append(one.name)
        if played == ["inactive", "structured_k0/14303"]:
            raise KeyboardInterrupt
        return real(one, *args, **kwargs)

    monkeypatch.setattr(grids, "play", fragile)
    with pytest.raises(KeyboardInterrupt):
        grids.grid(tmp_path, [inactive, student], FEW)
    grids.grid(tmp_path, [inactive, student], FEW)
    assert played == ["inactive", "structured_k0/14303", "structured_k0/14303"]


def test_damaged_rows_are_refused_by_name(student, tmp_path):
    grids.grid(tmp_path, [student], FEW)
    path = next(tmp_path.rglob(grids.ROWS))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(BadFile, match=r"episodes\.parquet is damaged"):
        grids.grid(tmp_path, [student], FEW)


def test_another_checkpoint_is_another_artifact(student, tmp_path):
    other = NamedPolicy(student.family, student.training_seed, student.policy, "ab" * 32)
    assert grids.artifact(tmp_path, student, FEW).folder != grids.artifact(tmp_path, other, FEW).folder
    assert store.open_artifact(grids.artifact(tmp_path, other, FEW).folder).manifest["result"]["episodes"] == 16


def test_a_policy_takes_part_once(student, tmp_path):
    with pytest.raises(BadInput, match="structured_k0/14303 takes part twice"):
        grids.grid(tmp_path, [student, student], FEW)


class Shadow:
    """A teacher that always asks for the centre."""

    name = "shadow"

    def initial(self, n):
        return np.zeros((n, 2), np.float32)

    def with_previous_action(self, carry, action):
        return carry

    def step(self, carry, observation):
        return carry, np.zeros((len(observation), 2), np.float32)


def test_action_error_is_filled_in_when_asked(student, tmp_path):
    shadow = NamedPolicy("shadow", 0, Shadow(), "cd" * 32)
    labelled = grids.grid(tmp_path, [student], FEW, teacher=shadow)
    plain = grids.grid(tmp_path, [student], FEW)
    assert plain["action_mse"].null_count == 16
    assert labelled["action_mse"].null_count == 0
    assert labelled.drop_columns(["action_mse"]).equals(plain.drop_columns(["action_mse"]))
    with pytest.raises(BadInput, match="inactive cannot label"):
        grids.grid(tmp_path, [student], FEW, teacher=resolve("inactive"))


def test_noise_of_zero_takes_the_clean_path(student):
    clean = grids.play(student, schedule("validation", (20,), noise_levels((0.0,)), FEW.shots))
    both = grids.play(student, FEW)
    rows = [row for row in range(16) if tables.key(both, row)["blackout"] == 20]
    rows = [row for row in rows if tables.key(both, row)["disturbance"] == "clean"]
    assert both.take(rows).equals(clean)
