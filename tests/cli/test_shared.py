import pytest

from blindsave.cli import shared
from blindsave.errors import BadInput


def test_a_table_cuts_nothing_off_on_a_narrow_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    columns = ["policy", *(f"length number {n}" for n in range(5))]
    shared.print_table("rates", columns, [["structured_k0", *["98.31 [96.0, 99.6]"] * 5]])
    out = capsys.readouterr().out
    assert out.count("98.31 [96.0, 99.6]") == 5 and "structured_k0" in out and "number 4" in " ".join(out.split())


def test_a_wide_table_goes_on_below_and_repeats_its_first_column(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    columns = ["policy", *map(str, range(0, 30, 5)), "0-400 ms"]
    names = ("feed_forward", "finite_stack_10")
    shared.print_table("saves", columns, [[name, *["100.00 [100.0, 100.0]"] * 6, "98.31"] for name in names])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80 and lines.count("saves") == 1
    blocks = sum(line.startswith("┃ policy") for line in lines)
    assert blocks == 3 == sum(line.startswith("│ feed_forward") for line in lines)
    assert sum(line.count("100.00 [100.0, 100.0]") for line in lines) == 12


def test_words_stand_left_and_numbers_right(capsys):
    shared.print_table("", ["name", "count", "remark"], [["a", "1", "short"], ["b", "100", "somewhat longer"]])
    rows = [line.split("│")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert rows[0][1].endswith("  1 ") and rows[0][2].startswith(" short")


def test_brackets_are_printed_as_they_are(capsys):
    shared.print_table("[bold]", ["a", "b"], [["[red]x", "[1.0, 2.0]"]])
    out = capsys.readouterr().out
    assert "[bold]" in out and "[red]x" in out and "[1.0, 2.0]" in out


def test_saves_are_listed_by_length_and_condition(capsys):
    cells = {"20+noise_5mm": {"saves": 1, "shots": 4}, "5": {"saves": 1, "shots": 2}, "20": {"saves": 1, "shots": 3}}
    shared.print_saves("validation", {"teacher": cells, "inactive": {"5": {"saves": 0, "shots": 2}}})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "validation: saves in %, by hidden control steps"
    assert lines[2].split("┃")[2].strip() == "5" and "20+noise_5mm" in lines[2].split("┃")[4]
    assert [cell.strip() for cell in lines[5].split("│")[1:-1]] == ["inactive", "0.0", "-", "-"]


def test_options_below_one_are_refused_by_name():
    shared.at_least_one(rounds=1)
    with pytest.raises(BadInput, match="--rounds must be at least 1, got 0"):
        shared.at_least_one(shots=3, rounds=0)
    with pytest.raises(BadInput, match="--updates-per-call must be at least 1"):
        shared.at_least_one(updates_per_call=0)


def test_numbers_in_one_word_are_finite_and_whole_where_they_must_be():
    assert shared.numbers("0,2.5", "--noise-mm") == (0.0, 2.5)
    assert shared.whole_numbers("0,5,1e1", "--steps") == (0, 5, 10)
    for text in ("", "1,,2", "1;2"):
        with pytest.raises(BadInput, match=f"--steps must be numbers separated by commas, not '{text}'"):
            shared.whole_numbers(text, "--steps")
    for text in ("inf", "0,nan", "-inf", "1e999"):
        with pytest.raises(BadInput, match=f"--steps must be finite numbers, not '{text}'"):
            shared.whole_numbers(text, "--steps")
    with pytest.raises(BadInput, match=r"--steps must be whole numbers, not 2\.5"):
        shared.whole_numbers("1,2.5", "--steps")


def test_facts_are_listed_one_to_a_line(capsys):
    shared.print_facts("facts", {"mean_error": 0.123456789, "name": "x", "seeds": [1, 2], "none": None})
    said = capsys.readouterr().out
    for name, value in (("mean error", "0.123457"), ("name", "x"), ("seeds", "1, 2")):
        (line,) = [line for line in said.splitlines() if line.strip().startswith(name)]
        assert line.rstrip().endswith(value)


def test_a_long_message_is_folded_and_squeezes_no_name_at_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    message = f"/home/{'x' * 150}/manifest.json is damaged: " + "its SHA-256 is not the one written " * 20
    shared.print_table("runs/study", ["stage", "state", ""], [["collectors", "damaged", message], ["base", "done", ""]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any("collectors" in line and "damaged" in line for line in lines)


def test_values_inside_others_are_rows_of_their_own(capsys):
    shared.print_facts("pilot", {"saves": {"20": {"saves": 3, "shots": 4}}, "error": {"hidden": 0.5, "seeds": [1, 2]}})
    out = capsys.readouterr().out
    assert "{" not in out and "3 of 4" in out and "error, hidden" in out and "1, 2" in out
