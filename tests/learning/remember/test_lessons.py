import numpy as np
import pytest

from blindsave.errors import BadInput
from blindsave.learning.distil.config import Recipe
from blindsave.learning.remember.lessons import Lessons, base, labelled, taught
from blindsave.learning.remember.teacher import TEACHER
from blindsave.policies.students.registry import family
from blindsave.task.interface import shown
from blindsave.task.shots import shots

SMALL = Lessons(40, 20, 1, (1, 2), Recipe(epochs=1, batch=16))


def correlation(data, step: int) -> float:
    """How well the request before the given step names the side that the teacher asks for there."""
    rows = data.offsets[:-1][data.steps > step] + step
    return float(np.corrcoef(data.previous[rows, 1], data.label[rows, 1])[0, 1])


def test_while_the_arm_is_held_requests_say_nothing_about_the_label():
    indices = np.arange(200)
    told, naive = (labelled(TEACHER, indices, mirrored) for mirrored in (True, False))
    assert correlation(naive, 5) > 0.99
    assert abs(correlation(told, 5)) < 0.3
    np.testing.assert_array_equal(told.label, naive.label)  # a held arm: the episodes are the same


def test_episodes_hide_the_puck_and_hold_the_arm_for_all_the_dial_offers():
    data = base(SMALL)
    assert len(data) == 40
    assert not shown(data.obs[data.offsets[:-1] + 6]).any()
    assert len(np.unique(data.shot)) > 20


def test_an_episode_is_a_function_of_its_index_alone():
    whole, part = labelled(TEACHER, np.arange(6)), labelled(TEACHER, np.arange(3, 6))
    np.testing.assert_array_equal(whole.obs[whole.offsets[3] :], part.obs)
    np.testing.assert_array_equal(whole.label[whole.offsets[3] :], part.label)


def test_two_rounds_of_training_give_one_student_per_seed_and_the_same_bits_again():
    heard: list[str] = []
    first, second = (taught(family("gru_n1"), SMALL, tell=heard.append) for _ in range(2))
    assert [one.provenance.seed for one in first] == [1, 2]
    assert {one.provenance.stage for one in first} == {"final"}
    assert first[0].provenance.notes["episodes"] == 60
    assert len(heard) == 4
    for name, array in first[0].parameters.items():
        np.testing.assert_array_equal(array, second[0].parameters[name])


def test_only_train_shots_teach():
    data = base(SMALL)
    assert data.shot.max() < len(shots("train"))


@pytest.mark.parametrize(
    "wrong", [{"base_episodes": 3}, {"rounds": -1}, {"seeds": ()}, {"round_episodes": 21}], ids=str
)
def test_lessons_that_cannot_be_are_refused(wrong):
    with pytest.raises(BadInput):
        Lessons(
            **{"base_episodes": 40, "round_episodes": 20, "rounds": 1, "seeds": (1, 2), "recipe": Recipe(), **wrong}
        )
