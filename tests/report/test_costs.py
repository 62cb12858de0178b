"""What families cost: counted, and timed where a file says so."""

import json
from pathlib import Path

import pytest

from blindsave.errors import BadFile
from blindsave.report.costs import FamilyCost, Timing, read_costs
from blindsave.report.sheet import Number


def put(folder: Path, name: str, document: object) -> None:
    (folder / name).write_text(json.dumps(document))


def test_sizes_are_counted_without_any_file(tmp_path):
    found = read_costs(tmp_path / "nowhere", ["gru_n64", "structured_k0", "teacher", "gru_n16"])
    assert list(found.families) == ["structured_k0", "gru_n64", "gru_n16"]
    assert found.families["structured_k0"].parameters == 12002
    assert not found.timed and found.files == ()


def test_times_come_in_two_shapes_and_from_several_files(tmp_path):
    put(
        tmp_path,
        "a.json",
        {"families": {"gru_n64": {"python_us": 2.5, "python_p95_us": 2.7, "python_us_by_seed": {"1": 2.4}}}},
    )
    put(tmp_path, "b.json", {"families": {"gru_n64": {"numpy_us": {"median": 30, "p95": 31}}}, "machine": {"cpu": "X"}})
    found = read_costs(tmp_path, ["gru_n64"])
    assert found.families["gru_n64"].timings == {"python": Timing(2.5, 2.7, {"1": 2.4}), "numpy": Timing(30.0, 31)}
    assert found.timed and found.machine == {"cpu": "X"} and len(found.files) == 2


def test_the_time_that_compares_with_the_paper_goes_first():
    sizes = dict.fromkeys(("parameters", "core_parameters", "carry_bytes", "recurrent_bytes", "macs"), 1)
    both = FamilyCost(**sizes, timings={"numpy": Timing(30.0), "python": Timing(2.5, 2.7)})
    assert both.latency_us == 2.5 and both.cells[5:] == (Number(2.5, 2), Number(2.7, 2))
    assert FamilyCost(**sizes, timings={"numpy": Timing(30.0)}).cells[5:] == (Number(30.0, 2), None)
    assert FamilyCost(**sizes).cells[5:] == (None, None)


@pytest.mark.parametrize("families", [None, [], {"gru_n64": 5}, {"gru_n64": {"python_us": "fast"}}])
def test_files_that_time_nothing_are_left_alone(tmp_path, families):
    put(tmp_path, "a.json", {"families": families})
    put(tmp_path, "b.json", [families])
    assert not read_costs(tmp_path, ["gru_n64"]).timed


def test_a_damaged_file_is_refused_by_name(tmp_path):
    (tmp_path / "latency.json").write_text("{")
    with pytest.raises(BadFile, match=r"latency\.json is damaged"):
        read_costs(tmp_path, ["gru_n64"])
