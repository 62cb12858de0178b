"""Student's t distribution: probabilities and quantiles, element by element, without SciPy.

The probability is a regularised incomplete beta function, summed as its continued fraction (Lentz's method); the
quantile is found by Newton's method, which climbs to it from the normal quantile without ever overshooting, because
the distribution function is concave above zero.
"""

from math import lgamma, pi
from statistics import NormalDist

import numpy as np

MOST_DF = 1e5
"""Beyond it the quantiles no longer change in the fifth digit."""
_TINY = 1e-300


def cdf(t: np.ndarray | float, df: np.ndarray | float) -> np.ndarray:
    """P(T <= t) with `df` degrees of freedom, which need not be whole."""
    t, df = np.broadcast_arrays(np.asarray(t, float), np.minimum(np.asarray(df, float), MOST_DF))
    tail = 0.5 * _beta(df / 2, np.full(df.shape, 0.5), df / (df + t**2), t**2 / (df + t**2))
    return np.where(t > 0, 1 - tail, tail)


def quantile(probability: float, df: np.ndarray | float) -> np.ndarray:
    """The t below which T lies with this probability, strictly between 0 and 1."""
    if probability < 0.5:
        return -quantile(1 - probability, df)
    df = np.minimum(np.asarray(df, float), MOST_DF)
    t = np.full(df.shape, NormalDist().inv_cdf(probability))
    scale = np.exp(_lgamma((df + 1) / 2) - _lgamma(df / 2)) / np.sqrt(df * pi)
    for _ in range(200):
        step = (probability - cdf(t, df)) / (scale * (1 + t**2 / df) ** (-(df + 1) / 2))
        t = t + step
        if np.all(np.abs(step) <= 1e-11 * (1 + t)):
            break
    return t


def _beta(a: np.ndarray, b: np.ndarray, x: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Regularised incomplete beta function of x = 1 - rest; the fraction is summed on the side where it is short."""
    flip = x > (a + 1) / (a + b + 2)
    p, q = np.where(flip, b, a), np.where(flip, a, b)
    y, z = np.where(flip, rest, x), np.where(flip, x, rest)
    with np.errstate(divide="ignore"):
        front = np.exp(_lgamma(a + b) - _lgamma(a) - _lgamma(b) + p * np.log(y) + q * np.log(z)) / p
    part = front * _fraction(p, q, y)
    return np.where(flip, 1 - part, part)


def _fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    c = np.ones(x.shape)
    d = 1 / _away(1 - (a + b) * x / (a + 1))
    total = d
    for m in range(1, 10_000):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _away(1 + factor * d)
            c = _away(1 + factor / c)
            total = total * c * d
        if np.all(np.abs(c * d - 1) < 1e-14):
            break
    return total


def _away(value: np.ndarray) -> np.ndarray:
    """Lentz's method must not divide by zero."""
    return np.where(np.abs(value) < _TINY, _TINY, value)


_lgamma = np.vectorize(lgamma, otypes=[float])
