"""One process at a time, and no lock is ever stale."""

import os
import subprocess
import sys

import pytest

from blindsave import store
from blindsave.errors import BadInput


def test_one_process_at_a_time_holds_a_lock_and_a_dead_one_holds_nothing(tmp_path):
    lock, refusal = tmp_path / "stages" / "lock", "somebody is here"
    script = "import sys, time; from pathlib import Path; from blindsave import store"
    script += "\nwith store.held(Path(sys.argv[1]), ''): print('held', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", script, str(lock)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with pytest.raises(BadInput, match=rf"^{refusal} \(process {other.pid}\)$"), store.held(lock, refusal):
            pass
        other.kill()
        other.wait()
        with store.held(lock, refusal):
            assert lock.read_text() == str(os.getpid())
