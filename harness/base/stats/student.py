"""Student's t distribution, by the regularised incomplete beta function."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p

_TINY = 1e-300
"""Smallest divisor, so that a continued fraction never divides by zero."""
_STEPS = 10_000
"""Limit of steps, more than any argument here needs; the fraction converges in about √(degrees of
freedom) steps."""


def t_tail(t: float, df: float) -> float:
    """Return P(|T| ≥ |t|): the two-sided p-value of ``t`` with ``df`` > 0 degrees of freedom.

    Source: Abramowitz and Stegun 26.5.27: it is I_x(df/2, 1/2) at x = df / (df + t²).
    """
    square = t * t
    return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square))


@lru_cache(maxsize=256)
def t_quantile(probability: float, df: float) -> float:
    """Return the t with P(T ≤ t) = ``probability``, for 0 < ``probability`` < 1 and ``df`` > 0.

    Found by bisection of `t_tail` down to neighbouring floats, and cached: a study needs the same
    quantile many times.
    """
    if probability < 0.5:  # noqa: PLR2004 - the median
        return -t_quantile(1 - probability, df)
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while t_tail(high, df) > tail:
        low, high = high, 2 * high
    # Until there is no float between the bounds.
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if t_tail(middle, df) > tail else (low, middle)
    return high


def incomplete_beta(a: float, b: float, x: float, rest: float | None = None) -> float:
    """Return the regularised incomplete beta function I_x(a, b), for a, b > 0 and 0 ≤ x ≤ 1.

    ``rest`` is 1 - x, where the caller knows it more exactly: near x = 1 the subtraction loses
    precision.

    Source: DLMF 8.17.22, a continued fraction, evaluated by Lentz's method; DLMF 8.17.4 for large
    x.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    rest = 1 - x if rest is None else rest
    # Beyond this the fraction converges slowly, and that of the other tail fast.
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    front = (
        exp(
            a * log(x)
            + b * (log1p(-x) if x < rest else log(rest))
            + lgamma(a + b)
            - lgamma(a)
            - lgamma(b)
        )
        / a
    )
    return front * _evaluate_fraction(a, b, x)


def _evaluate_fraction(a: float, b: float, x: float) -> float:
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        before = value
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if value == before:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
