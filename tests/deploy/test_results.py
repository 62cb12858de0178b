"""Numbers in the documentation are those of the stored measurements, and these meet what was asked of them."""

import json
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
DEPLOY, DRIVE = ((REPOSITORY / "docs" / name).read_text("utf-8") for name in ("deploy.md", "drive.md"))


def stored(name: str) -> dict:
    return json.loads((REPOSITORY / "results" / "bench" / name).read_text("utf-8"))


def test_whole_numbers_lose_less_than_a_point_and_are_equivalent_within_two():
    differences = stored("integers.json")["families"]["structured_k0"]["differences"]
    for kind in ("int8", "int16"):
        for cell in differences[f"structured_k0_{kind}"].values():
            assert abs(cell["estimate"]) < 0.01 and cell["equivalent"] and cell["margin"] == 0.02


@pytest.mark.parametrize("kind", ["int8", "int16"])
def test_the_page_shows_the_stored_differences(kind):
    cells = stored("integers.json")["families"]["structured_k0"]["differences"][f"structured_k0_{kind}"].values()
    said = [f"{100 * c['estimate']:+.1f} [{100 * c['low']:.1f}, {100 * c['high']:.1f}]" for c in cells]
    assert f"| {kind} minus float | {' | '.join(said)} |" in DEPLOY


def test_the_page_shows_the_stored_boards():
    found = stored("board.json")
    for policy, versions in found["policies"].items():
        for numbers, cells in versions.items():
            for name, cell in cells.items():
                keys = ("flash_bytes", "state_bytes", "stack_bytes", "instructions_per_step")
                values = " | ".join(f"{cell[key]:,}" for key in keys)
                assert f"| `{policy}`, {numbers} | {found['boards'][name]['processor']} | {values} |" in DEPLOY
                assert cell["ok"] and cell["self_test"] in DEPLOY


def test_the_linear_memory_in_eight_bits_fits_into_16_kilobytes_on_every_processor():
    cells = stored("board.json")["policies"]["structured_k0/14303"]["int8"]
    assert set(cells) == {"m0", "m3", "m4", "m7"} and max(cell["flash_bytes"] for cell in cells.values()) <= 16_000


def test_a_million_ticks_kept_their_bits_and_their_time():
    found = stored("drive.json")
    loop = found["loopback"]
    assert loop["ticks"] == 1_000_000 and loop["wrong"] == 0 and loop["replayed"] and loop["ticks_per_s"] > 1000
    assert loop["work"]["p999_ns"] < 100_000 and f"| {loop['work']['p999_ns'] / 1000:,.1f} |" in DRIVE


def test_every_shot_ended_as_it_does_without_the_loop():
    for played in stored("drive.json")["shots"]:
        assert played["shots"] == 225 and played["outcomes_that_differ"] == 0
        assert played["saves"] == played["saves_evaluated"] and f"{played['saves']} of 225" in DRIVE


def test_every_fault_ended_safely_and_the_page_says_so():
    faults = stored("drive.json")["faults"]
    assert len(faults) == 10
    for met in faults.values():
        modes = " | ".join(f"{met['modes'][mode]:,}" for mode in ("run", "blind", "hold", "stop"))
        assert met["ok"] and re.search(re.escape(f"| {modes} | 0 | {met['recovered_after']} |"), DRIVE)
