"""The plain PyTorch trainer that ours are compared with: the same start, the same loss, the same update."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from blindsave.bench.students_torch import PADDED, TorchStudent, TorchTrainer, choose_threads  # noqa: E402
from blindsave.errors import BadInput  # noqa: E402
from blindsave.learning.distil.config import Recipe  # noqa: E402
from blindsave.learning.distil.native import NativeTrainer  # noqa: E402
from blindsave.policies.students import Family, family  # noqa: E402
from blindsave.policies.students.feed_forward import FeedForward  # noqa: E402
from blindsave.policies.students.gru import GRU  # noqa: E402
from blindsave.policies.students.structured import Structured  # noqa: E402
from blindsave.policies.students.student import Student  # noqa: E402
from blindsave.testing.training import random_episodes  # noqa: E402

DATA = random_episodes([4, 70, 2, 9, 1] * 4)
RECIPE = Recipe(batch=16, chunk=64)
FAMILIES = (Family("plain", FeedForward()), Family("low_rank", Structured(2, 5)), Family("gated", GRU(4)))


@pytest.mark.parametrize("kind", FAMILIES, ids=lambda kind: kind.name)
def test_one_update_is_that_of_the_trainer_in_c(kind):
    ours = NativeTrainer(kind, DATA, (3,), RECIPE)
    params, _, metrics = ours.train(ours.initial(), ours.batches(1))
    theirs = TorchTrainer(kind, DATA, (3,), RECIPE)
    episodes = ours.batches(1)[0, 0]
    loss = theirs.update(0, episodes[episodes >= 0])
    assert loss == pytest.approx(float(metrics.train_loss[0]), rel=1e-4)
    found = theirs.students[0].layers[3].weight.detach().numpy()
    np.testing.assert_allclose(found, params["head.1.weight"][0], atol=2e-5)


def test_an_untrained_student_acts_like_ours():
    ours, theirs = Student.untrained("structured_k2", 5), TorchStudent(family("structured_k2"), 5)
    seen = np.random.default_rng(0).uniform(-1, 1, (1, 19)).astype(np.float32)
    with torch.no_grad():
        action, _ = theirs(torch.tensor(seen)[None], torch.zeros(1, 1, 2), torch.zeros(1, 64))
    np.testing.assert_allclose(action[0], ours.step(ours.initial(1), seen)[1], atol=1e-5)


def test_padding_holds_rows_at_their_steps_and_nothing_else():
    trainer = TorchTrainer(FAMILIES[0], DATA, (1,), RECIPE)
    assert trainer.inputs.shape == (20, PADDED, 19)
    np.testing.assert_array_equal(trainer.inputs[1, :70], DATA.obs[DATA.rows(1)])
    assert not trainer.inputs[1, 70:].any()


def test_a_core_it_does_not_know_is_refused():
    with pytest.raises(BadInput, match="does not know the core of lru_n32"):
        TorchStudent(family("lru_n32"), 1)


def test_the_faster_number_of_threads_is_set():
    before = torch.get_num_threads()
    try:
        chosen = choose_threads(TorchTrainer(FAMILIES[0], DATA, (1,), RECIPE), np.arange(4), 2)
        assert chosen in (1, 2) and torch.get_num_threads() == chosen
    finally:
        torch.set_num_threads(before)
