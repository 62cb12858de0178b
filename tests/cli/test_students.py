"""The student commands, as a user calls them."""

import json

import pytest

from blindsave.cli import execute
from blindsave.errors import BadFile, BadInput
from blindsave.policies.students.student import Student


def result_of(capsys, *args: str) -> dict:
    execute([*args, "--json"])
    return json.loads(capsys.readouterr().out)


def test_families_print_the_papers_table(capsys):
    table = result_of(capsys, "families")["families"]
    assert table["structured_k0"] == {
        "parameters": 12002, "core_parameters": 2304, "carry_bytes": 264, "recurrent_bytes": 256, "macs": 11776,
        "jacobian_rank": 0,
    }  # fmt: skip
    assert [table[f"structured_k{k}"]["jacobian_rank"] for k in (1, 2, 4)] == [1, 2, 4]


def test_latency_reports_every_requested_family(capsys):
    args = ("bench", "latency", "--families", "structured_k0", "gru_n64", "--seeds", "14303", "--calls", "20")
    result = result_of(capsys, *args, "--blocks", "2")
    assert set(result["families"]) == {"structured_k0", "gru_n64"}
    for record in result["families"].values():
        assert {"python_us", "numpy_us", "python_p99_us", "python_worst_us", "deadline_slack_us"} <= set(record)
    assert result["protocol"]["blocks"] == 2 and result["machine"]["cpu"]


def test_latency_refuses_an_empty_measurement():
    with pytest.raises(BadInput, match="--calls must be at least 1"):
        execute(["bench", "latency", "--calls", "0"])


@pytest.mark.parametrize("form", ["c", "onnx"])
def test_export_writes_files_that_pass_their_self_test(form, tmp_path, capsys):
    if form == "onnx":
        pytest.importorskip("onnxruntime")
    source = tmp_path / "student.safetensors"
    Student.untrained("structured_k1", 14303).save(source)
    result = result_of(capsys, "export", str(source), "--format", form, "--out", str(tmp_path / "out"))
    assert result["policy"] == "structured_k1/14303"
    assert result["self_test"]["passed"] in (True, None)
    for file in result["files"]:
        assert (tmp_path / "out").joinpath(file["path"]).stat().st_size == file["bytes"]


def test_an_export_that_is_not_the_policy_says_so_and_exits_with_1(tmp_path, monkeypatch, capsys):
    pytest.importorskip("onnxruntime")
    from blindsave.deploy import onnx_graph

    source = tmp_path / "student.safetensors"
    Student.untrained("feed_forward", 14303).save(source)
    monkeypatch.setattr(onnx_graph, "onnx_error", lambda path, policy: 0.5)
    with pytest.raises(SystemExit) as stopped:
        execute(["export", str(source), "--format", "onnx", "--out", str(tmp_path)])
    assert stopped.value.code == 1
    assert "is not feed_forward/14303" in capsys.readouterr().out


def test_export_names_a_missing_model(tmp_path, monkeypatch):
    monkeypatch.setenv("BLINDSAVE_MODELS", str(tmp_path))
    with pytest.raises(BadFile, match="no shipped model"):
        execute(["export", "gru_n64/14303"])
