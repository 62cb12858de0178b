"""A replay refuses what is not a recording, in one sentence, and writes nothing then."""

import io

import numpy as np
import pytest

from blindsave.errors import BadFile
from blindsave.testing.replay import replay_file

GOOD = {
    "names": np.array(["one"]),
    "length": np.array([3]),
    "launch": np.array([[0.5, 0.0, 0.0, -1.0, 0.0, 0.0]]),
    "action": np.zeros((1, 3, 2), np.float32),
}


def archive(**fields) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **fields)
    return buffer.getvalue()


def array_file() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(3))
    return buffer.getvalue()


def without(name: str) -> dict:
    return {key: value for key, value in GOOD.items() if key != name}


BAD = [
    (b"", "not an npz"),
    (b"host\n", "not an npz"),
    (array_file(), "not an npz"),
    (archive(**GOOD)[:-400], "not an npz"),
    (archive(**GOOD).replace(b"NUMPY", b"NYMPU"), "damaged"),
    (archive(**GOOD | {"launch": np.array([None], object)}), "plain arrays"),
    (archive(**without("action")), "'action'"),
    (archive(**GOOD | {"launch": np.zeros((1, 5))}), "shape"),
    (archive(**GOOD | {"length": np.array([4])}), "length"),
    (archive(**GOOD | {"action": np.full((1, 3, 2), np.nan)}), "finite"),
]


@pytest.mark.parametrize(("content", "word"), BAD)
def test_a_file_that_is_no_recording_is_refused(tmp_path, content, word):
    source, target = tmp_path / "in.npz", tmp_path / "out.npz"
    source.write_bytes(content)
    with pytest.raises(BadFile, match=word) as error:
        replay_file(source, target)
    assert "\n" not in str(error.value)
    assert "pickle" not in str(error.value)
    assert not target.exists()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadFile, match="does not exist"):
        replay_file(tmp_path / "nothing.npz", tmp_path / "out.npz")


def test_a_good_file_is_replayed(tmp_path):
    (tmp_path / "in.npz").write_bytes(archive(**GOOD))
    assert replay_file(tmp_path / "in.npz", tmp_path / "out.npz")["control_steps"] == 3
    with np.load(tmp_path / "out.npz") as result:
        assert result["puck_pos"].shape == (1, 4, 3)
        assert np.isfinite(result["puck_pos"]).all()
