"""What the time limit means: an end of the episode, but (as in the original) not of the future beyond it."""

import json
from pathlib import Path

import numpy as np
import pytest
from dreamer_cases import random_params
from studies import TERMINATED, TERMINATED_MODELS

from blindsave.errors import BadInput
from blindsave.learning.dreamer import checkpoint, returns, tensorfile
from blindsave.learning.dreamer.config import Config, Sizes, Training
from blindsave.learning.dreamer.defend_stream import DefendStream
from blindsave.task.outcomes import Outcome

ROOT = Path(__file__).parents[3]


def ends(stream, steps=135):
    """Play a motionless robot; return everything seen, and (outcome, last, terminal) of every end."""
    seen, found = [stream.reset()], []
    for _ in range(steps):
        now = stream.step(np.zeros((stream.n, 2), np.float32))
        seen.append(now)
        found += [
            (Outcome(int(stream._batch.outcome[i])), now.last[i], now.terminal[i]) for i in np.flatnonzero(now.last)
        ]
    return seen, found


@pytest.fixture(scope="module")
def truncated():
    return ends(DefendStream(4))


def test_a_time_out_is_last_but_not_terminal(truncated):
    assert {(last, terminal) for outcome, last, terminal in truncated[1] if outcome.timed_out} == {(True, False)}


def test_a_concession_and_a_save_are_both(truncated):
    outcomes = {outcome for outcome, *_ in truncated[1]}
    assert {Outcome.GOAL_CONCEDED, Outcome.RETURNED} <= outcomes
    assert all(terminal for outcome, _, terminal in truncated[1] if not outcome.timed_out)


def test_terminate_gives_the_same_stream_with_every_end_terminal(truncated):
    seen, _ = ends(DefendStream(4, timeouts="terminate"))
    for old, new in zip(seen, truncated[0], strict=True):
        np.testing.assert_array_equal(old.terminal, old.last)
        for name in ("observation", "action", "reward", "first", "last"):
            np.testing.assert_array_equal(getattr(old, name), getattr(new, name))


def test_replayed_returns_bootstrap_at_a_time_out_and_carry_nothing_across_it():
    reward = np.array([0.0, 0.5, 0.0, 9.0], np.float32)
    last = np.array([False, True, False, False])
    value = np.array([1.0, 2.0, 4.0, 8.0], np.float32)
    kept = np.asarray(returns.replayed(reward, np.zeros(4, bool), last, value, 0.9, 0.95))
    assert kept[0] == pytest.approx(0.5 + 0.9 * 2.0)  # neither the 9 nor any value behind the end
    ended = np.asarray(returns.replayed(reward, last, last, value, 0.9, 0.95))
    assert ended[0] == pytest.approx(0.5)


def test_a_configuration_that_does_not_say_was_trained_with_terminal_time_outs():
    files = [TERMINATED / "teacher/config.json", *sorted((ROOT / "results/teachers").glob("seed_*/**/config.json"))]
    stored = [json.loads(path.read_text()) for path in files]
    stored.append(tensorfile.read(TERMINATED_MODELS / "teacher/agent.safetensors")[1]["config"])
    stored = [data for data in stored if "sizes" in data]
    assert len(stored) >= 2
    for data in stored:
        assert "timeouts" not in data["training"]
        assert Config.from_json(data).training.timeouts == "terminate"


def test_a_checkpoint_says_how_time_outs_counted(tmp_path):
    sizes = Sizes(19, 2, deter=16, hidden=8, categoricals=4, classes=4, blocks=2, units=16, bins=21)
    folder = checkpoint.Folder(tmp_path)
    folder.save_params(0, random_params(sizes, 0), Config(sizes))
    assert tensorfile.read(folder.path("params", 0))[1]["config"]["training"]["timeouts"] == "truncate"
    assert folder.load_params(0)[1].training.timeouts == "truncate"
    with pytest.raises(BadInput, match="truncate or terminate"):
        Training(timeouts="ignore")  # type: ignore[arg-type]
