"""Students as files: what is written comes back in every bit, and what is wrong is said by name."""

import numpy as np
import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.policies import files
from blindsave.policies.students.registry import family
from blindsave.policies.students.student import (
    FORMAT,
    Provenance,
    Student,
    load_student,
    save_student,
    sizes,
    student_from,
)

HOW = Provenance(14303, "final", "ab" * 32, 17, 0.0125, {"learning_rate": 3e-4})
SEEN = np.random.default_rng(0).uniform(-1, 1, (5, 19)).astype(np.float32)


def saved(path, **changes):
    """A file of a trained student whose metadata were meddled with."""
    kind = family("structured_k1")
    save_student(path, kind, kind.init(4), HOW)
    arrays, metadata = files.read_policy(path)
    files.write_policy(path, arrays, metadata | changes)
    return path


def test_a_student_comes_back_with_its_provenance_and_every_bit(tmp_path):
    kind = family("structured_k1")
    student = Student(kind, kind.init(4), HOW)
    student.save(tmp_path / "a.safetensors")
    again = load_student(tmp_path / "a.safetensors")
    assert again.provenance == HOW and again.family == kind and again.name == "structured_k1/14303"
    for one, other in zip(student.unroll(SEEN), again.unroll(SEEN), strict=True):
        assert one.tobytes() == other.tobytes()


def test_an_untrained_student_says_so():
    student = Student.untrained("gru_n64", 3)
    assert student.provenance == Provenance(3)
    assert (student.provenance.stage, student.provenance.dataset) == ("initial", "")
    with pytest.raises(BadInput, match="no family `hopfield`"):
        Student.untrained("hopfield", 3)


def test_a_student_says_what_it_is():
    assert repr(Student.untrained("structured_k0", 7)) == "<Student structured_k0/7, initial, 12,002 parameters>"


def test_a_file_states_the_widths_a_reader_needs():
    assert sizes(family("structured_k1")) == {"encoder_input": 19, "memory": 64, "carry": 66, "features": 96}
    assert sizes(family("finite_stack_10")) == {"encoder_input": 46, "memory": 30, "carry": 30, "features": 32}
    assert sizes(family("feed_forward")) == {"encoder_input": 19, "memory": 0, "carry": 0, "features": 32}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"family": "hopfield"}, "family `hopfield` is not registered"),
        ({"family": "gru_n32"}, "field `sizes`"),
        ({"family": "gru_n64"}, r"`core\.W_ih` is missing"),
        ({"version": 2}, "field `version` is 2, not 1"),
        ({"arithmetic": "float64"}, "field `arithmetic` is 'float64'"),
        ({"stage": "finished"}, "`stage` cannot be `finished`"),
        ({"seed": "14303"}, "seed"),
        ({files.FORMAT_KEY: "blindsave.teacher"}, f"holds a blindsave.teacher, not a {FORMAT}"),
    ],
)
def test_a_file_that_says_something_else_is_refused_by_name(tmp_path, changes, reason):
    path = saved(tmp_path / "a.safetensors", **changes)
    with pytest.raises(BadFile, match=reason) as caught:
        load_student(path)
    assert str(path) in str(caught.value)


def test_a_parameter_too_many_too_few_or_of_another_shape_is_refused(tmp_path):
    path = saved(tmp_path / "a.safetensors")
    arrays, metadata = files.read_policy(path)
    with pytest.raises(BadFile, match=r"core\.U"):
        student_from(path, {name: a for name, a in arrays.items() if name != "core.U"}, metadata)
    with pytest.raises(BadFile, match="extra"):
        student_from(path, arrays | {"extra": np.zeros(1, np.float32)}, metadata)
    with pytest.raises(BadFile, match=r"core\.alpha"):
        student_from(path, arrays | {"core.alpha": np.zeros(63, np.float32)}, metadata)


def test_what_could_not_be_loaded_is_not_written(tmp_path):
    kind, path = family("structured_k1"), tmp_path / "a.safetensors"
    good = kind.init(4)
    with pytest.raises(BadInput, match="a stage is one of initial, collector, final, not `late`"):
        save_student(path, kind, good, Provenance(1, stage="late"))
    with pytest.raises(BadInput, match=r"`core\.V` holds a value that is not finite"):
        save_student(path, kind, good | {"core.V": np.full((1, 64), np.inf)}, HOW)
    with pytest.raises(BadFile, match=r"head\.1\.bias"):
        save_student(path, kind, good | {"head.1.bias": np.zeros(3)}, HOW)
    assert not list(tmp_path.iterdir())
