"""The proof that the whole agent learns, and that it learns to remember."""

from dreamer_cases import Recall

from blindsave.learning.dreamer import metrics
from blindsave.learning.dreamer.config import Config, Learning, Sizes, Training
from blindsave.learning.dreamer.trainer import Trainer


def test_a_tiny_agent_learns_to_remember(tmp_path):
    """The cue is gone after the first step: whoever does not remember it earns nothing afterwards."""
    config = Config(
        Sizes(2, 1, deter=32, hidden=16, categoricals=4, classes=4, blocks=2, units=32, bins=127),
        Learning(batch=16, length=12, imagination=4, learning_rate=2e-3, warmup=20, horizon=20, entropy=1e-2),
        training=Training(steps=4800, envs=16, train_ratio=64, log_every=800, checkpoint_every=10**6, seed=3),
    )
    Trainer(config, Recall(16), tmp_path, quiet=True).run()
    lines = metrics.read(tmp_path / "metrics.jsonl")
    assert lines[0]["return"] < 0.5
    # `saved` is the share of episodes whose last action, three steps after the cue, had its sign.
    assert lines[-1]["saved"] > 0.8
    assert lines[-1]["return"] > 1.5
