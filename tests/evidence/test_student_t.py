"""Student's t against SciPy."""

import numpy as np
import pytest
from scipy import stats

from blindsave.evidence import student_t

DF = np.array([1.0, 1.7, 2.0, 4.3, 10.0, 33.3, 500.0, 9e4])


@pytest.mark.parametrize("t", [-60.0, -2.5, -0.1, 0.0, 1e-9, 0.7, 3.0, 60.0])
def test_probabilities_are_those_of_scipy(t):
    np.testing.assert_allclose(student_t.cdf(t, DF), stats.t.cdf(t, DF), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("probability", [0.001, 0.025, 0.4, 0.5, 0.9, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy_for_any_degrees_of_freedom(probability):
    np.testing.assert_allclose(student_t.quantile(probability, DF), stats.t.ppf(probability, DF), rtol=1e-7, atol=1e-9)


def test_beyond_most_degrees_of_freedom_it_is_the_normal_distribution():
    assert float(student_t.quantile(0.975, np.inf)) == pytest.approx(1.959964, abs=5e-5)
    assert float(student_t.cdf(1.0, 1e12)) == pytest.approx(0.8413447, abs=1e-5)


def test_both_arguments_are_taken_element_by_element():
    t = np.array([[-1.0], [2.0]])
    assert student_t.cdf(t, DF).shape == (2, len(DF))
    np.testing.assert_allclose(student_t.cdf(t, DF) + student_t.cdf(-t, DF), 1.0, atol=1e-12)


@pytest.mark.parametrize("probability", [0.0, 1.0, 1.5])
def test_a_probability_without_a_quantile_is_an_error(probability):
    with pytest.raises(ValueError):
        student_t.quantile(probability, 5.0)
