import json

import pytest

from blindsave.errors import BadFile, BadInput
from blindsave.evidence.ledger import START, Ledger


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    made = Ledger(tmp_path / "deep" / "ledger.jsonl")
    for number in range(3):
        made.append("note", {"number": number})
    return made


def test_entries_come_back_in_order_and_chained(ledger):
    entries = ledger.entries()
    assert [entry.content["number"] for entry in entries] == [0, 1, 2]
    assert entries[0].previous == START
    assert [entry.previous for entry in entries[1:]] == [entry.sha256 for entry in entries[:-1]]
    assert ledger.last("note") == entries[2]
    assert ledger.last("opening") is None


def test_any_changed_byte_is_found(ledger):
    whole = ledger.path.read_bytes()
    for position in range(0, len(whole) - 1, 3):
        ledger.path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(BadFile, match="line"):
            ledger.entries()


def test_removed_inserted_and_swapped_lines_are_found(ledger):
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    for forged in ([lines[1], lines[2]], [lines[0], lines[2]], [lines[0], lines[2], lines[1]], [lines[0], *lines]):
        ledger.path.write_bytes(b"".join(forged))
        with pytest.raises(BadFile, match="chain of hashes is broken"):
            ledger.entries()


def test_a_forged_entry_breaks_the_chain_even_with_its_own_hash_right(ledger, tmp_path):
    other = Ledger(tmp_path / "other.jsonl")
    for number in (0, 7):
        other.append("note", {"number": number})
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    lines[1] = other.path.read_bytes().splitlines(keepends=True)[1]
    ledger.path.write_bytes(b"".join(lines))
    with pytest.raises(BadFile, match="broken"):
        ledger.entries()


def test_a_line_torn_by_a_crash_never_counted(ledger):
    whole = ledger.path.read_bytes()
    for torn in (b"{", json.dumps({"index": 3}).encode()):
        ledger.path.write_bytes(whole + torn)
        assert len(ledger.entries()) == 3
    entry = ledger.append("note", {"number": 3})
    assert ledger.entries()[-1] == entry
    assert ledger.path.read_bytes().startswith(whole)
    assert len(ledger.entries()) == 4


def test_two_writers_cannot_hold_the_ledger(ledger):
    with ledger.lock(), pytest.raises(BadInput, match="another process"), Ledger(ledger.path).lock():
        pass
    with ledger.lock():
        pass
