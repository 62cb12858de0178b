"""Checkpoints of a training: every bit comes back; another training's, and damage, do not."""

import numpy as np
import pytest

from blindsave import tensors
from blindsave.errors import BadFile, Damaged
from blindsave.learning.distil.checkpoint import load_checkpoint, save_checkpoint
from blindsave.learning.distil.history import History
from blindsave.learning.distil.state import fresh_state, leaves
from blindsave.policies.students import family

IDENTITY = {"family": "structured_k1", "seeds": [1, 2], "learning_rate": 3e-4}
FRESH = fresh_state([family("structured_k1").init(seed) for seed in (1, 2)])
ROW = {"train_loss": (0.5, 0.4), "validation_loss": (0.6, np.nan), "gradient_norm": (1.0, 2.0)}


@pytest.fixture
def path(tmp_path):
    state = FRESH._replace(epoch=np.int32([3, 4]), stopped=np.array([True, False]))
    save_checkpoint(tmp_path / "a.safetensors", state, History.empty(2).appended(ROW, 1.5), IDENTITY)
    return tmp_path / "a.safetensors"


def test_state_and_history_come_back_in_every_bit(path):
    state, history = load_checkpoint(path, FRESH, IDENTITY)
    assert state.epoch.tolist() == [3, 4] and state.stopped.tolist() == [True, False]
    for one, other in zip(leaves(state.params), leaves(FRESH.params), strict=True):
        assert one.tobytes() == other.tobytes() and one.dtype == other.dtype
    assert history.validation_loss.tobytes() == np.float32([[0.6, np.nan]]).tobytes()
    assert history.seconds.tolist() == [1.5]


def test_tuples_in_the_identity_are_the_lists_they_become(path):
    load_checkpoint(path, FRESH, IDENTITY | {"seeds": (1, 2)})


@pytest.mark.parametrize("change", [{"seeds": [1, 3]}, {"learning_rate": 3.1e-4}, {"more": 1}])
def test_a_checkpoint_of_another_training_is_refused_but_not_called_damaged(path, change):
    with pytest.raises(BadFile, match="belongs to another training") as caught:
        load_checkpoint(path, FRESH, IDENTITY | change)
    assert not isinstance(caught.value, Damaged)


def test_a_state_of_other_shapes_is_refused(path):
    other = fresh_state([family("structured_k2").init(1)])
    with pytest.raises(BadFile, match="does not fit the family"):
        load_checkpoint(path, other, IDENTITY)


@pytest.mark.parametrize("place", [0.001, 0.3, 0.9999])
def test_a_flipped_bit_is_damage_and_names_the_file_to_remove(path, place):
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= 4
    path.write_bytes(bytes(content))
    with pytest.raises(BadFile, match=r"a\.safetensors"):
        load_checkpoint(path, FRESH, IDENTITY)


def test_a_cut_or_missing_file_is_damage_with_its_piece(path):
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(Damaged) as caught:
        load_checkpoint(path, FRESH, IDENTITY)
    assert caught.value.piece == path
    with pytest.raises(Damaged):
        load_checkpoint(path.with_name("b.safetensors"), FRESH, IDENTITY)


def test_content_that_is_not_what_its_hash_says_is_damage(path):
    arrays, facts = tensors.read(path)
    tensors.write(path, arrays | {"state.0": arrays["state.0"] + 1}, facts)
    with pytest.raises(Damaged, match="not what its hash says"):
        load_checkpoint(path, FRESH, IDENTITY)
