import numpy as np
import pytest

from blindsave.diagnostics import record as recorder
from blindsave.policies.closed_loop import run
from blindsave.policies.scripted import SCRIPTED
from blindsave.task.conditions import CLEAN, condition
from blindsave.task.shots import shots

SHOT = shots("validation")[0]


@pytest.mark.parametrize("name", ["inactive", "privileged"])
def test_a_recording_agrees_with_the_evaluation(name):
    episode = CLEAN.episode(SHOT, 20)
    recording, result = recorder.record(SCRIPTED[name], episode), run(SCRIPTED[name], [episode], threads=1)
    assert recording.outcome == result.labels[0]
    assert len(recording) == result.steps[0] + 1
    assert recording.first_contact == result.first_contact[0]
    assert recording.saved == bool(result.saved[0]) == (name == "privileged")


def test_a_recording_holds_what_was_shown_and_what_was_true():
    recording = recorder.record(SCRIPTED["privileged"], CLEAN.episode(SHOT, 10))
    assert recording.hidden_spans == [(5, 15)]
    np.testing.assert_allclose(recording.puck[0], (SHOT.x, SHOT.y))
    assert np.isnan(recording.seen[5:15]).all()
    np.testing.assert_allclose(recording.seen[:5], recording.puck[:5], atol=1e-6)
    assert recording.target is not None and recording.target.shape == recording.puck.shape
    assert recording.title == "sees everything (privileged)     puck hidden for 200 ms"


def test_noise_moves_what_was_shown_only():
    clean, noisy = (
        recorder.record(SCRIPTED["privileged"], condition(f"noise_{mm:g}mm").episode(SHOT, 0)) for mm in (0.0, 5.0)
    )
    np.testing.assert_array_equal(clean.qpos, noisy.qpos)
    off_mm = 1000 * np.abs(noisy.seen - noisy.puck)
    assert 1 < off_mm.mean() < 8
    assert "faulty tracking" in noisy.title
