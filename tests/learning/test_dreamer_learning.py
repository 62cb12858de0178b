"""The proof that the whole agent learns, and that it learns to remember."""

from dreamer_cases import Recall

from blindsave.learning.dreamer import metrics
from blindsave.learning.dreamer.config import Config, Learning, Sizes, Training
from blindsave.learning.dreamer.trainer import Trainer


def test_a_tiny_agent_learns_to_remember(tmp_path):
    """The cue is gone when it is needed: without memory the expected return is zero."""
    config = Config(
        Sizes(2, 1, deter=32, hidden=16, categoricals=4, classes=4, blocks=2, units=32, bins=41),
        Learning(batch=16, length=9, imagination=4, learning_rate=2e-3, warmup=20, horizon=20, entropy=1e-3),
        training=Training(steps=4800, envs=16, train_ratio=48, log_every=480, checkpoint_every=10**6, seed=2),
    )
    Trainer(config, Recall(16), tmp_path, quiet=True).run()
    lines = metrics.read(tmp_path / "metrics.jsonl")
    assert lines[0]["saved"] < 0.65
    assert lines[-1]["saved"] > 0.85
    assert lines[-1]["return"] > 0.4
