"""The study of the smallest policy as it is shipped: its plans can be read, and its page says what its files say."""

from collections import defaultdict
from pathlib import Path

from blindsave.evidence import tables
from blindsave.policies.students import family
from blindsave.policies.students.accounting import cost
from blindsave.stages.study_file import read_study_file

REPOSITORY = Path(__file__).parents[1]
STUDY = REPOSITORY / "results" / "smallest"
PAGE = (REPOSITORY / "docs" / "smallest.md").read_text("utf-8")


def plan(name: str):
    return read_study_file(REPOSITORY / "docs" / "studies" / name).scale


def test_the_screening_asks_about_memories_of_1_to_64_and_widths_down_to_an_eighth():
    found = [family(name) for name in plan("smallest-memory-screening.toml").families]
    assert {one.core.memory for one in found} >= {1, 2, 4, 8, 16, 32, 64}
    assert {one.encoder for one in found} == {64, 32, 16, 8}


def test_the_page_shows_every_family_of_the_screening():
    table = tables.read(STUDY / "screening.parquet")
    saved = defaultdict(lambda: defaultdict(list))
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
