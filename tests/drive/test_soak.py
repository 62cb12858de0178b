"""The loop under strain, in small: the full size is `blindsave bench drive`."""

import numpy as np
import pytest

from blindsave.drive import replay, soak

SEEN = np.random.default_rng(0).uniform(-1, 1, (200, 19)).astype(np.float32)


def test_every_action_of_many_ticks_is_the_policys_own(program, policy, tmp_path):
    log = tmp_path / "run.log"
    found = soak.million(program, policy, SEEN, 3000, log, lambda _: None)
    assert found["wrong"] == 0 and found["ticks"] == 3000 == found["packets"]["fresh"]
    assert replay(program, log)["equal"]


def test_a_wrong_action_would_be_noticed(program, tmp_path):
    from blindsave.policies import load

    found = soak.million(program, load("structured_k0/14304"), SEEN, 50, None, lambda _: None)
    assert found["wrong"] > 25  # where both are certain, both ask for the edge of the box


@pytest.mark.parametrize("fault", ["loss", "garbage", "clock_back"])
def test_faults_end_in_safe_commands_and_recovery(program, fault, tmp_path):
    faults = soak.campaign(500)[fault]
    found = soak.faulty(program, SEEN, faults, 700, 500, tmp_path / "fault.log")
    assert found["ok"] and found["unsafe"] == 0 and found["recovered_after"] > 0 and found["last_word"] == "stop"


def test_the_campaign_names_every_fault_of_the_issue():
    assert set(soak.campaign(1000)) >= {"loss", "duplication", "reordering", "silence", "garbage", "truncation"}
    assert soak.campaign(1000)["silence"].silence == (500, 10_000) and soak.campaign(50)["loss"].loss == 0.3
