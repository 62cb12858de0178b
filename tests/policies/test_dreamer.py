"""The teacher's program says what the learner's own network says, and its carry is its whole memory."""

from dataclasses import asdict

import numpy as np
import pytest

from blindsave.errors import BadFile
from blindsave.policies import catalog, closed_loop, files
from blindsave.policies.arithmetic import ARITHMETIC
from blindsave.policies.dreamer import FORMAT, AgentShape, Teacher, save_teacher
from blindsave.task.conditions import grid
from blindsave.task.outcomes import Outcome
from blindsave.task.shots import shots

SMALL = AgentShape(deter=32, hidden=8, categoricals=4, classes=4, blocks=4, units=8)


def random_parameters(shape: AgentShape, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(0, 0.4, size) + name.endswith("scale")).astype(np.float32)
        for name, size in shape.shapes.items()
    }


@pytest.fixture(scope="module")
def teacher() -> Teacher:
    return Teacher(random_parameters(SMALL), shape=SMALL)


def test_the_acting_parameters_of_the_study_are_counted():
    total = sum(int(np.prod(shape)) for shape in AgentShape().shapes.values())
    # Encoder, dynamics without prior, and actor of the learner, less the output layer of its exploration noise.
    assert total == 378_308 - (64 * 2 + 2)


def test_the_c_kernel_equals_the_numpy_reference_bit_for_bit(teacher):
    rng = np.random.default_rng(1)
    fast, slow = teacher.initial(3), teacher.initial(3)
    for _ in range(60):
        observation = rng.uniform(-1, 1, (3, 19)).astype(np.float32)
        fast, action = teacher.step(fast, observation)
        slow, wanted = teacher.program.run(slow, observation)
        assert action.tobytes() == wanted.tobytes()
        assert fast.tobytes() == slow.tobytes()


def test_the_program_agrees_with_the_learner(teacher):
    jax = pytest.importorskip("jax")
    from blindsave.learning.dreamer import heads, latents, recurrent
    from blindsave.learning.dreamer.config import Sizes

    sizes = Sizes(19, 2, deter=32, hidden=8, categoricals=4, classes=4, blocks=4, units=8)
    tree: dict = {}
    zeros = {"actor.std.kernel": np.zeros((8, 2), np.float32), "actor.std.bias": np.zeros(2, np.float32)}
    for name, array in (random_parameters(SMALL) | zeros).items():
        *path, leaf = name.split(".")
        branch = tree
        for part in path:
            branch = branch.setdefault(part, {})
        branch[leaf] = jax.numpy.asarray(array)
    matrices = recurrent.prepare(tree["dynamics"], sizes, "grouped")
    site = recurrent.plain_site(matrices, sizes, "grouped")

    @jax.jit
    def learner(h, z, action, observation):
        token = heads.encode(tree["encoder"], observation)
        h = recurrent.advance(site, sizes, h, z, recurrent.embed_action(matrices, action))
        logits = recurrent.posterior(site, h, recurrent.embed_token(matrices, token))
        z = latents.sample(logits, sizes.classes, 0.01, None)
        return h, z, heads.act(tree["actor"], heads.feature(h, z)).mean

    rng = np.random.default_rng(2)
    carry = teacher.initial(5)
    state = (np.zeros((5, 32), np.float32), np.zeros((5, 16), np.float32), np.zeros((5, 2), np.float32))
    for _ in range(30):
        observation = rng.uniform(-1, 1, (5, 19)).astype(np.float32)
        carry, action = teacher.step(carry, observation)
        state = learner(*state, observation)
        np.testing.assert_allclose(action, state[2], atol=2e-5)
        np.testing.assert_array_equal(carry[:, 32:48], state[1])


def test_following_someone_else_changes_only_the_previous_action(teacher):
    observation = np.full((2, 19), 0.3, np.float32)
    carry, action = teacher.step(teacher.initial(2), observation)
    other = teacher.with_previous_action(carry, -action)
    np.testing.assert_array_equal(other[:, :-2], carry[:, :-2])
    np.testing.assert_array_equal(other[:, -2:], -action)
    assert (teacher.step(other, observation)[1] != teacher.step(carry, observation)[1]).any()


def test_a_teacher_file_brings_the_same_teacher_back(tmp_path, teacher):
    paths = [tmp_path / "a.safetensors", tmp_path / "b.safetensors"]
    for path in paths:
        save_teacher(path, random_parameters(SMALL), shape=SMALL, seed=1, step=20, notes={"from": "a test"})
    assert paths[0].read_bytes() == paths[1].read_bytes()
    loaded = catalog.load(paths[0])
    observation = np.linspace(-1, 1, 38, dtype=np.float32).reshape(2, 19)
    assert loaded.step(loaded.initial(2), observation)[1].tobytes() == (
        teacher.step(teacher.initial(2), observation)[1].tobytes()
    )


GOOD = {"shape": asdict(SMALL), "arithmetic": ARITHMETIC, "seed": 1, "step": 20, "notes": {}}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"arithmetic": "other_v9"}, "other_v9"),
        ({"shape": {"wings": 2}}, "shape"),
        ({"shape": asdict(SMALL) | {"blocks": 0}}, "shape"),
        ({"step": "many"}, "step"),
    ],
)
def test_a_foreign_teacher_file_is_refused_with_the_reason(tmp_path, change, word):
    path = tmp_path / "x.safetensors"
    files.write_policy(path, random_parameters(SMALL), {files.FORMAT_KEY: FORMAT} | GOOD | change)
    with pytest.raises(BadFile, match=word):
        catalog.load(path)


def test_a_teacher_file_with_a_wrong_leaf_names_it(tmp_path):
    path = tmp_path / "x.safetensors"
    params = random_parameters(SMALL) | {"actor.mean.bias": np.zeros(3, np.float32)}
    files.write_policy(path, params, {files.FORMAT_KEY: FORMAT} | GOOD)
    with pytest.raises(BadFile, match=r"actor\.mean\.bias"):
        catalog.load(path)


def test_the_shipped_teacher_saves_shots_it_cannot_see():
    results = closed_loop.run(catalog.load("teacher"), grid(shots("validation")[:30], (20,)))
    saved = [Outcome(int(code)).saved for code in results.outcome]
    assert np.mean(saved) > 0.9
