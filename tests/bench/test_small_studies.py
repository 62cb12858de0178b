from pathlib import Path

import numpy as np
import pytest

from blindsave.bench.coverage import SIZES
from blindsave.bench.small_studies import Played, small_studies
from blindsave.cli import execute
from blindsave.errors import BadInput

TABLE = str(Path(__file__).parents[2] / "results/test/principal_test.parquet")
RNG = np.random.default_rng(7)
LARGE = np.repeat(SIZES, 10)


def large(seed_sd: float, seeds: int = 400) -> np.ndarray:
    """A study with many seeds, whose luck is common to all shots, and shots of their own difficulty."""
    luck = seed_sd * RNG.standard_normal((2, seeds, 1)) + RNG.standard_normal(len(LARGE)) + 1.2
    first, second = (luck + RNG.standard_normal((2, seeds, len(LARGE))) > 0 for _ in range(2))
    return first.astype(float) + (second & (LARGE == 2))


def test_families_of_a_small_study_share_its_seeds_and_its_shots():
    # Every count says where it was: seed s, unit u.
    marked = np.add.outer(1000.0 * np.arange(9), np.arange(len(LARGE)) / 10_000)
    both = Played(np.stack([marked, marked]), LARGE, 4).studies(np.random.default_rng(1), 50)
    assert both.shape == (2, 50, 4, len(SIZES)) and np.array_equal(both[0], both[1])
    seeds, units = np.round(both[0] / 1000), np.round(both[0] % 1000 * 10_000).astype(int)
    assert (seeds == seeds[:, :, :1]).all() and (units == units[:, :1]).all()
    assert np.array_equal(LARGE[units], np.broadcast_to(SIZES, units.shape))
    assert len(np.unique(seeds)) == 9 and len(np.unique(units)) > 1000


def test_where_seeds_decide_the_bootstrap_of_five_is_too_narrow_and_mrmc_is_not():
    found = small_studies(Played(large(0.8), LARGE, 5), 600, 200)
    assert found["bootstrap"]["held"] < 0.91 < 0.93 < found["mrmc"]["held"] < 0.98
    assert found["bootstrap"]["half_width"] < found["mrmc"]["half_width"]
    assert 1.5 * found["sd"] < found["mrmc"]["half_width"] < 4 * found["sd"]


def test_equal_families_are_found_equal_more_often_with_more_seeds():
    saved = large(0.0)
    saved[1] = saved[0]
    few, many = (small_studies(Played(saved, LARGE, seeds), 100, 100) for seeds in (2, 9))
    assert few["difference"] == many["difference"] == few["sd"] == 0
    assert few["mrmc"]["equivalent"] == many["mrmc"]["equivalent"] == 1
    apart = small_studies(Played(np.stack([saved[0], 0 * saved[0]]), LARGE, 3), 100, 100)
    assert apart["difference"] > 0.5 and apart["mrmc"]["equivalent"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--seeds", "5"], "fewer than the table's 5"),
        (["--seeds", "1"], "2 training seeds or more"),
        (["--seeds", "x"], "--seeds must be numbers"),
        (["--a", "structured_k0"], "both structured_k0"),
        (["--b", "teacher", "--seeds", "3"], "cannot be paired"),
        (["--a", "nobody", "--seeds", "3"], "no policy 'nobody'"),
        (["--studies", "0"], "--studies must be at least 1"),
    ],
)
def test_sizes_that_cannot_be_drawn_are_refused(words, sentence):
    with pytest.raises(BadInput, match=sentence):
        execute(["bench", "small-studies", TABLE, *words])


def test_the_command_says_what_the_table_holds(capsys):
    execute(["bench", "small-studies", TABLE, "--seeds", "2,4", "--studies", "20", "--replicates", "50"])
    told = capsys.readouterr().out
    assert "points in the whole table" in told
    assert max(map(len, told.splitlines())) <= 80
