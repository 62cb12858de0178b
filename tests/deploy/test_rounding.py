"""Rounding a linear map: with the data in mind, and at the scale that suits each row."""

import numpy as np

from blindsave.deploy import integers as whole
from blindsave.deploy.rounding import FINE, PLAIN, rounded, whole_rows


def correlated(rng: np.random.Generator, inputs: int, ways: int) -> np.ndarray:
    """Recorded inputs that vary in a few ways only, with a one as the last."""
    seen = rng.normal(size=(4000, ways)) @ rng.normal(size=(ways, inputs))
    return np.concatenate([seen, np.ones((4000, 1))], axis=1)


def squared_errors(rows: whole.Rows, given: np.ndarray, moments: np.ndarray, point: int) -> np.ndarray:
    """Mean squared error of every row's results, its scale as the 16-bit factor tells it."""
    scale = rows.factor / 2.0 ** (rows.shift + point)
    off = np.column_stack([rows.weight, rows.bias]) * scale[:, None] - given
    return ((off @ moments) * off).sum(axis=1)


def test_rounding_with_the_data_beats_rounding_without():
    rng = np.random.default_rng(0)
    inputs = correlated(rng, 24, 6)
    weight = rng.normal(0, 3, (16, 25))
    found, bias = rounded(weight, inputs.T @ inputs / 4000, 127)
    with_data = inputs @ (np.concatenate([found, bias[:, None]], axis=1) - weight).T
    without = inputs @ (np.floor(weight + 0.5) - weight).T
    assert np.sqrt(np.mean(with_data**2)) < 0.5 * np.sqrt(np.mean(without**2))


def test_a_chosen_scale_errs_less_than_the_plain_one_and_keeps_within_the_bits():
    rng = np.random.default_rng(1)
    inputs, given, point = correlated(rng, 8, 5), rng.normal(0, 1e-3, (12, 9)), 20
    moments = inputs.T @ inputs / 4000
    plain, fine = (whole_rows(given, moments, point, "int8", scales) for scales in (PLAIN, FINE))
    errors = [squared_errors(rows, given, moments, point) for rows in (plain, fine)]
    assert (errors[1] <= errors[0] * 1.001).all()  # the factor of 16 bits moves a scale a little
    assert errors[1].sum() < 0.8 * errors[0].sum()
    assert np.abs(fine.weight).max() <= 127 and fine.factor.max() <= 65535


def test_the_plain_scale_is_the_first_that_is_tried_and_alone_it_is_what_there_was():
    rng = np.random.default_rng(2)
    inputs, given = correlated(rng, 8, 5), rng.normal(0, 1e-3, (12, 9))
    given[0] = 0.0  # a row that no scale can better
    moments = inputs.T @ inputs / 4000
    plain, fine = (whole_rows(given, moments, 20, "int8", scales) for scales in (PLAIN, FINE))
    assert FINE[0] == 1.0 and len(FINE) == 65
    assert np.array_equal(plain.weight[0], fine.weight[0]) and plain.bias[0] == fine.bias[0]
    weight, bias = rounded(given / (np.maximum(np.abs(given[:, :-1]).max(axis=1), 1e-30) / 127)[:, None], moments, 127)
    assert np.array_equal(plain.weight, weight) and np.array_equal(plain.bias, bias)
