"""The command that lets twins exchange their memories."""

import json

import pytest

from blindsave import cli
from blindsave.cli.swap import MemorySwap, seeds_of
from blindsave.errors import BadInput, BlindsaveError
from blindsave.policies.catalog import MODELS_VARIABLE, student_file
from blindsave.policies.students.student import Student


def test_the_command_prints_writes_and_draws(tmp_path, capsys):
    out, figure = tmp_path / "swap.json", tmp_path / "swap.svg"
    words = ["memory-swap", "structured_k0/14303", "feed_forward", "--steps", "5,15", "--pairs", "2"]
    cli.execute([*words, "--out", str(out), "--figure", str(figure), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert [row["hidden_ms"] for row in result["rows"]] == [None, 0, 200] * 2
    assert [len(row["training_seeds"]) for row in result["rows"]] == [1] * 3 + [5] * 3
    stored = json.loads(out.read_text())
    assert stored["rows"] == result["rows"] and "measured_on" in stored
    assert figure.read_text().startswith("<?xml")
    cli.execute(words)
    shown = capsys.readouterr().out
    assert "200 ms" in shown and "memories were exchanged" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["privileged"], "reads the truth"),
        (["nobody"], "nobody"),
        (["teacher", "--pairs", "0"], "--pairs must be at least 1"),
        (["teacher", "--pairs", "1", "--steps", "5,x"], "--steps"),
        (["feed_forward/14303", "--pairs", "1", "--steps", "5", "--figure", "a.gif"], "a.gif"),
        (["feed_forward/14303", "--pairs", "1", "--blackout", "500"], "blackout"),
    ],
)
def test_mistakes_are_said_in_one_sentence(words, said):
    with pytest.raises(BlindsaveError, match=said) as caught:
        cli.execute(["memory-swap", *words])
    assert "\n" not in str(caught.value)


def test_a_family_stands_for_its_shipped_seeds_and_a_member_for_itself(tmp_path, monkeypatch):
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path))
    for seed in (5, 3):
        Student.untrained("gru_n8", seed).save(student_file("gru_n8", seed))
    Student.untrained("gru_n16", 7).save(student_file("gru_n16", 7))
    assert sorted(one.training_seed for one in seeds_of("gru_n8")) == [3, 5]
    assert [one.name for one in seeds_of("gru_n8/5")] == ["gru_n8/5"]
    assert [one.name for one in seeds_of("inactive")] == ["inactive"]
    with pytest.raises(BadInput, match="privileged reads the truth and has no memory"):
        seeds_of("privileged")


@pytest.mark.parametrize(
    ("how", "undisturbed", "words"),
    [
        ("erase", "never", "memories were erased"),
        ("hold", "as usual", "arms were released"),
    ],
)
def test_rates_stand_by_moment_and_policy(how, undisturbed, words, capsys):
    def row(policy, hidden, rate):
        return {"policy": policy, "how": how, "hidden_ms": hidden, "rate": {"estimate": rate}}

    rows = [row("a", None, 1.0), row("a", 40, 0.5), row("b", None, 0.25), row("b", 40, 0.125)]
    MemorySwap(how=how).show({"split": "test", "how": how, "rows": rows})
    said = capsys.readouterr().out
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in said.splitlines() if line.startswith("│")]
    assert cells == [[undisturbed, "100.0", "25.0"], ["40 ms", "50.0", "12.5"]]
    assert words in said
