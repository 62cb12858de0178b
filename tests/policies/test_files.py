"""Policy files: what is written is what is read, and nothing else is accepted."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save

from blindsave import policies
from blindsave.errors import BadFile, BadInput, BlindsaveError
from blindsave.policies import files
from blindsave.policies.students import families
from blindsave.policies.students.student import FORMAT, Provenance, Student, load_student, save_student

PROVENANCE = Provenance(14303, "final", "aggregate-1234", 97, 0.0766, {"commit": "abc"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "student.safetensors"
    student = Student.untrained("structured_k1", 14303)
    Student(student.family, student.parameters, PROVENANCE).save(path)
    return path


def parts(path):
    tensors, metadata = files.read_policy(path)
    return dict(tensors), {key: json.dumps(value) for key, value in metadata.items()}


@pytest.mark.parametrize("name", families())
def test_round_trip_keeps_every_bit_and_all_provenance(name, tmp_path):
    student = Student.untrained(name, 14305)
    kind, path = student.family, tmp_path / "a.safetensors"
    save_student(path, kind, student.parameters, PROVENANCE)
    read = load_student(path)
    assert read.provenance == PROVENANCE and read.family == kind and read.name == f"{name}/14303"
    assert {n: a.tobytes() for n, a in read.parameters.items()} == {
        n: a.tobytes() for n, a in student.parameters.items()
    }
    seen = np.full((2, 19), 0.1, np.float32)
    for a, b in zip(read.step(read.initial(2), seen), student.step(student.initial(2), seen), strict=True):
        assert a.tobytes() == b.tobytes()


def rewritten(whole, tmp_path, change):
    tensors, metadata = parts(whole)
    change(tensors, metadata)
    path = tmp_path / "changed.safetensors"
    path.write_bytes(save(tensors, metadata=metadata))
    return path


def _nan(tensors, metadata):
    tensors["core.U"][3, 0] = np.nan


def _infinite(tensors, metadata):
    tensors["head.1.bias"][1] = np.inf


def _transposed(tensors, metadata):
    tensors["head.0.weight"] = np.ascontiguousarray(tensors["head.0.weight"].T)


def _missing(tensors, metadata):
    del tensors["core.alpha"]


def _extra(tensors, metadata):
    tensors["core.bonus"] = np.zeros(3, np.float32)


def _double(tensors, metadata):
    tensors["core.b_z"] = tensors["core.b_z"].astype(np.float64)


def _set(key, value):
    def change(tensors, metadata):
        metadata[key] = value

    return change


def _drop(key):
    def change(tensors, metadata):
        del metadata[key]

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_nan, "`core.U` holds a value that is not finite"),
        (_infinite, "`head.1.bias` holds a value that is not finite"),
        (_transposed, r"`head.0.weight` has shape \(96, 64\), not \(64, 96\)"),
        (_missing, "`core.alpha` is missing"),
        (_extra, "`core.bonus` does not belong"),
        (_double, "`core.b_z` is float64, not float32"),
        (_set("family", '"hopfield_n64"'), "`hopfield_n64` is not registered"),
        (_set("family", '"structured_k2"'), "core.U"),
        (_set("family", "7"), "`family` cannot be 7"),
        (_set("seed", "true"), "`seed` cannot be true"),
        (_set("seed", "not json"), "`seed` is not JSON"),
        (_set("seed", "[" * 100_000), "`seed` is not JSON"),
        (_set("stage", '"halfway"'), "`stage` cannot be"),
        (_set("arithmetic", '"float16"'), "`arithmetic` is 'float16'"),
        (_set("version", "2"), "`version` is 2"),
        (_set("sizes", "{}"), "`sizes` is"),
        (_set("format", '"blindsave.poem"'), "not known here"),
        (_set("format", "[]"), "not known here"),
        (_drop("dataset"), "no `dataset`"),
        (_drop("validation_mse"), "no `validation_mse`"),
        (_drop("format"), "not of blindsave"),
    ],
)
def test_a_wrong_file_is_refused_and_the_wrong_part_named(whole, tmp_path, change, reason):
    with pytest.raises(BadFile, match=reason):
        policies.load(rewritten(whole, tmp_path, change))


def test_a_foreign_safetensors_file_is_refused(tmp_path):
    path = tmp_path / "foreign.safetensors"
    path.write_bytes(save({"model.weight": np.zeros((2, 2), np.float32)}))
    with pytest.raises(BadFile, match="not of blindsave"):
        policies.load(path)


@pytest.mark.parametrize("content", [b"", b"\x00" * 8, b"\xff" * 64, b"PK\x03\x04 not ours", b"{}"])
def test_files_of_other_kinds_are_refused(tmp_path, content):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(BadFile, match="not a whole safetensors file"):
        policies.load(path)


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(BadFile, match="there is no policy file"):
        policies.load(tmp_path / "none.safetensors")
    folder = tmp_path / "folder.safetensors"
    folder.mkdir()
    with pytest.raises(BadFile):
        policies.load(folder)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0.0, 0.9999))
def test_truncated_files_are_refused(whole, tmp_path, cut):
    content = whole.read_bytes()
    path = tmp_path / "cut.safetensors"
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(BadFile):
        policies.load(path)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0.0, 0.9999), flips=st.binary(min_size=1, max_size=8), in_header=st.booleans())
def test_damaged_files_are_refused_or_run_but_never_crash(whole, tmp_path, place, flips, in_header):
    content = bytearray(whole.read_bytes())
    header = 8 + int.from_bytes(content[:8], "little")
    start = int((header if in_header else len(content)) * place)
    for index, flip in enumerate(flips):
        if start + index < len(content):
            content[start + index] ^= flip
    path = tmp_path / "damaged.safetensors"
    path.write_bytes(bytes(content))
    try:
        policy = policies.load(path)
    except BlindsaveError as error:
        assert len(str(error).splitlines()) == 1
    else:
        policy.step(policy.initial(1), np.zeros((1, 19), np.float32))


def test_bad_students_are_not_written(tmp_path):
    student, path = Student.untrained("gru_n64", 1), tmp_path / "bad.safetensors"
    broken = student.parameters | {"core.b_ih": np.full(192, np.nan, np.float32)}
    with pytest.raises(BadInput, match=r"core\.b_ih"):
        save_student(path, student.family, broken, PROVENANCE)
    with pytest.raises(BadInput, match="stage"):
        save_student(path, student.family, student.parameters, Provenance(1, "nearly"))
    with pytest.raises(BadFile, match="missing"):
        save_student(path, student.family, {}, PROVENANCE)
    assert not path.exists()


def test_the_format_field_says_student(whole):
    assert files.read_policy(whole)[1]["format"] == FORMAT
