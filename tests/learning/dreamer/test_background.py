"""Work in the background: in order, one at a time, and no error is lost."""

import threading

import pytest

from blindsave.learning.dreamer.background import Background


def test_work_is_done_in_order_and_finished_on_leaving():
    done, gate = [], threading.Event()
    with Background() as background:
        background.do(lambda: (gate.wait(5), done.append("first")))
        assert done == []  # the caller goes on meanwhile
        gate.set()
        background.do(lambda: done.append("second"))
        assert done[:1] == ["first"]
    assert done == ["first", "second"]


def test_an_error_is_raised_by_the_next_call_and_only_once():
    def fail():
        raise OSError("disk full")

    with Background() as background:
        background.do(fail)
        with pytest.raises(OSError, match="disk full"):
            background.wait()
        background.wait()
        background.do(fail)
        with pytest.raises(OSError, match="disk full"):
            background.do(lambda: pytest.fail("begun after an error"))


def test_an_error_of_the_last_piece_is_raised_on_leaving():
    with pytest.raises(OSError, match="disk full"), Background() as background:
        background.do(lambda: (_ for _ in ()).throw(OSError("disk full")))


def test_an_error_on_its_way_is_not_hidden_and_the_work_is_still_done():
    done = []
    with pytest.raises(KeyError), Background() as background:
        background.do(lambda: done.append("written"))
        background.wait()
        background.do(lambda: (_ for _ in ()).throw(OSError("disk full")))
        raise KeyError
    assert done == ["written"]


def test_nothing_to_wait_for_is_fine():
    with Background() as background:
        background.wait()
