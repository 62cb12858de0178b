"""The study of the smallest policy as it is shipped: its plans can be read, and its page says what its files say."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
from page_tools import page_tool

from blindsave.evidence import tables
from blindsave.evidence.saves import saves
from blindsave.policies.students import family
from blindsave.policies.students.accounting import cost
from blindsave.report.analysis import analyse
from blindsave.report.results import read_results
from blindsave.stages.study_file import read_study_file
from blindsave.verify import verify

REPOSITORY = Path(__file__).parents[1]
STUDY = REPOSITORY / "results" / "smallest"
CURVE = REPOSITORY / "results" / "smallest-curve" / "faithful_7303"
TOOL = page_tool("smallest")
PAGE = (REPOSITORY / "docs" / "smallest.md").read_text("utf-8")


def plan(name: str):
    return read_study_file(REPOSITORY / "docs" / "studies" / name).scale


def test_the_screening_asks_about_memories_of_1_to_64_and_widths_down_to_an_eighth():
    found = [family(name) for name in plan("smallest-memory-screening.toml").families]
    assert {one.core.memory for one in found} >= {1, 2, 4, 8, 16, 32, 64}
    assert {one.encoder for one in found} == {64, 32, 16, 8}


def test_the_page_shows_every_family_of_the_screening():
    table = tables.read(STUDY / "screening" / "validation.parquet")
    saved: dict = defaultdict(lambda: defaultdict(list))
    for row in table.select(["policy", "training_seed", "blackout", "save"]).to_pylist():
        assert row["blackout"] == 20
        saved[row["policy"]][row["training_seed"]].append(row["save"])
    assert set(saved) == {*plan("smallest-memory-screening.toml").families, "teacher"}
    for name, seeds in saved.items():
        rates = [100 * sum(rows) / len(rows) for _, rows in sorted(seeds.items())]
        assert all(len(rows) == 225 for rows in seeds.values())
        if name == "teacher":
            assert f"{rates[0]:.1f} %" in PAGE
            continue
        by_seed = ", ".join(f"{rate:.1f}" for rate in rates)
        assert f"| `{name}` | {cost(family(name)).parameters:,} | {sum(rates) / 2:.1f} | {by_seed} |" in PAGE


def test_one_candidate_is_tested_against_the_linear_memory_of_the_same_budget():
    scale = plan("smallest-memory.toml")
    (name,), (guest, files) = scale.families, scale.guests[0]
    assert (scale.base_episodes, scale.shadow_episodes, len(scale.training_seeds)) == (20_000, 20_000, 5)
    assert guest == "structured_k0" and [seed for seed, _ in files] == list(scale.training_seeds)
    assert scale.questions is not None and scale.questions.hypotheses is not None
    (asked,) = scale.questions.hypotheses
    assert (asked.a, asked.b, asked.kind, scale.questions.margin_points) == (name, guest, "equivalence", 2)


def test_the_candidate_is_the_smallest_that_saved_enough_in_the_screening():
    held = saves(tables.read(STUDY / "screening" / "validation.parquet"))
    means = {name: float(held.at(name, 20).mean()) for name in held.saved if name != "teacher"}
    enough = [name for name, rate in means.items() if rate >= means["structured_k0"] - 0.005]
    assert plan("smallest-memory.toml").families == (min(enough, key=lambda name: cost(family(name)).parameters),)


@pytest.fixture(scope="module")
def curve():
    return analyse(read_results(CURVE))


def test_the_curve_asks_about_the_candidates_that_validation_shots_name(curve):
    held = saves(tables.read(CURVE / "validation" / "validation.parquet"))
    asked = {(one.contrast.a, one.contrast.blackout) for one in curve.verdicts}
    assert asked == {(name, length) for name in TOOL.candidates(held).values() for length in (0, 10, 20)}
    assert all(one.kind == "equivalence" and one.contrast.equivalence.margin == 0.02 for one in curve.verdicts)


def test_the_curve_verifies_and_the_page_says_what_it_decided(curve):
    assert verify(CURVE).ok
    assert TOOL.claims_table(curve) in PAGE and TOOL.curve_table(curve) in PAGE and TOOL.integers_table() in PAGE
    smallest = min((name for name, one in TOOL.claims(curve).items() if one["supported"]), key=TOOL.parameters)
    assert TOOL.parameters(smallest) <= 2084


def test_the_page_shows_the_board_and_the_candidate_fits_into_four_kilobytes():
    found = json.loads((STUDY / "board.json").read_text("utf-8"))
    for policy, versions in found["policies"].items():
        for numbers, cells in versions.items():
            for board, cell in cells.items():
                keys = ("flash_bytes", "state_bytes", "stack_bytes", "instructions_per_step")
                values = " | ".join(f"{cell[key]:,}" for key in keys)
                assert f"| `{policy}`, {numbers} | {found['boards'][board]['processor']} | {values} |" in PAGE
                assert cell["ok"]
    small = found["policies"]["gru_n8_e8_c8_h8/14303"]
    assert max(cell["flash_bytes"] for cell in small["int8"].values()) < 4000


def test_the_sealed_study_verifies_and_supports_what_the_page_says():
    held = STUDY / "faithful_7303"
    assert verify(held).ok
    found = analyse(read_results(held), 500)
    (verdict,) = found.verdicts
    contrast = verdict.contrast
    assert verdict.verdict == "supported" and contrast.equivalence.margin == 0.02
    assert cost(family(contrast.a)).parameters <= 2084
    said = f"{100 * contrast.estimate:+.1f} [{100 * contrast.low:+.1f}, {100 * contrast.high:+.1f}]"
    assert f"| {said} | yes |" in PAGE
    assert f"[{100 * contrast.equivalence.low:+.1f}, {100 * contrast.equivalence.high:+.1f}]" in PAGE


def test_the_page_says_what_eight_bits_cost():
    found = json.loads((STUDY / "integers.json").read_text())["families"]["gru_n8_e8_c8_h8"]["rates"]
    for form, name in (("float", ""), ("int16", "_int16"), ("int8", "_int8")):
        cells = [found[f"gru_n8_e8_c8_h8{name}"][steps] for steps in ("0", "20")]
        shown = " | ".join(f"{100 * c['estimate']:.1f} [{100 * c['low']:.1f}, {100 * c['high']:.1f}]" for c in cells)
        assert f"| {form} | {shown} |" in PAGE
