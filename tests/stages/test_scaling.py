"""How the speed of several workers is summed up; nothing is timed here."""

import pytest

from blindsave.stages import scaling
from blindsave.stages.distillation import play_base
from blindsave.stages.measuring import play_validation


@pytest.mark.parametrize(
    ("most", "counts"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (12, [1, 2, 4, 8, 12])]
)
def test_counts_double_up_to_all_cores(most, counts):
    assert scaling.worker_counts(most) == counts


@pytest.fixture
def engines(monkeypatch):
    """Workers that are never started, and rates by how many there are."""
    made = []

    class Fake:
        def __init__(self, count):
            self.count, self.stopped = count, False
            made.append(self)

        def stop(self):
            self.stopped = True

    rates = {1: iter([99, 99, 10, 10, 20, 20, 30, 30]), 2: iter([99, 99, 18, 18, 40, 40, 48, 48])}
    monkeypatch.setattr(scaling, "Workers", Fake)
    monkeypatch.setattr(scaling, "_rate", lambda engine, make, tasks: float(next(rates[engine.count])))
    return made


def test_efficiency_compares_workers_within_a_round_and_the_first_round_does_not_count(engines):
    said = []
    found = scaling.measure_scaling([1, 2], 3, said.append)
    assert found.keys() == {"evaluation", "collection"}
    assert found["evaluation"]["2"] == {"episodes_per_s": 40.0, "efficiency": 0.9, "rounds": [18.0, 40.0, 48.0]}
    assert found["collection"]["1"]["efficiency"] == 1.0
    assert len(said) == 2 * 2 * 3 and said[0] == "evaluation, 1 workers: 10.0 episodes/s"
    assert all(engine.stopped for engine in engines)


def test_workers_are_stopped_when_a_measurement_fails(engines, monkeypatch):
    def fail(*_):
        raise RuntimeError("lost")

    monkeypatch.setattr(scaling, "_rate", fail)
    with pytest.raises(RuntimeError):
        scaling.measure_scaling([1, 2], 1, print)
    assert [engine.stopped for engine in engines] == [True, True]


@pytest.mark.parametrize(("kind", "work"), [("evaluation", play_validation), ("collection", play_base)])
def test_what_is_timed_are_the_studys_own_tasks_of_equal_size(tmp_path, kind, work):
    site, tasks = scaling.KINDS[kind](tmp_path, 3)
    assert [task.work for task in tasks] == [work] * 3
    assert len({tuple(task.cost.values()) for task in tasks}) == 1
    assert site.teacher_file.is_file() and site.threads == 1
