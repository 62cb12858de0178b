"""Engines by name."""

import os
import signal
import threading

import pytest

from blindsave.engine import InProcess, Workers, open_engine
from blindsave.engine.choice import TERMINATED
from blindsave.errors import BadInput


def test_engines_are_chosen_by_name():
    with open_engine("here") as engine:
        assert isinstance(engine, InProcess)
    with open_engine(None, 1) as engine:
        assert isinstance(engine, InProcess)
    with open_engine(None, 3) as engine:
        assert isinstance(engine, Workers) and engine.count == 3
    refused = {
        "no engine `slurm`": {"name": "slurm"},
        "is one process": {"name": "here", "workers": 2},
        "an address is for Ray": {"name": "workers", "address": "auto"},
        "at least 1 worker": {"name": "workers", "workers": 0},
    }
    for sentence, options in refused.items():
        with pytest.raises(BadInput, match=sentence), open_engine(**options):
            pass


def test_a_request_to_end_becomes_an_orderly_exit_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as stopped, open_engine("here"):
        os.kill(os.getpid(), signal.SIGTERM)
    assert stopped.value.code == TERMINATED == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_engine_opens_outside_the_main_thread_too():
    found = []

    def work():
        with open_engine("here") as engine:
            found.append(engine)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert isinstance(found[0], InProcess)


def test_one_core_works_in_this_process(monkeypatch):
    monkeypatch.setattr("blindsave.engine.choice.cores", lambda: 1)
    with open_engine() as engine:
        assert isinstance(engine, InProcess)
    with open_engine("here", 1) as engine:
        assert isinstance(engine, InProcess)
