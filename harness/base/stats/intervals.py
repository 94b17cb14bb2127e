"""Confidence intervals of rates, of their differences and of clustered trials; 95 % by default."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import comb, exp, lgamma, log, log1p, sqrt
from statistics import fmean, stdev
from typing import TypeAlias

from harness.base.stats.units import Trials


def intraclass_correlation(cases: Sequence[Trials]) -> float | None:
    """Return the ICC of the trials of ``cases``, from 0 to 1.

    Cases with one trial count for the spread between cases. ``None`` when no case has two judged
    trials, or when all trials ended alike: neither spread can be estimated then.

    Source: Fleiss, Levin and Paik 2003, section 15.2: the analysis of variance estimator.
    """
    judged = [(passed, total) for passed, total in cases if total]
    trials, count = sum(total for _, total in judged), len(judged)
    if count < 2 or trials == count:  # noqa: PLR2004 - one case has no spread between cases
        return None
    rate = sum(passed for passed, _ in judged) / trials
    within = sum(passed * (total - passed) / total for passed, total in judged) / (trials - count)
    between = sum(total * (passed / total - rate) ** 2 for passed, total in judged) / (count - 1)
    size = (trials - sum(total * total for _, total in judged) / trials) / (count - 1)
    spread = between + (size - 1) * within
    # By chance the estimate can be below 0, which would mean nothing here.
    return None if spread == 0 else max(0.0, (between - within) / spread)


def own_discordance(cases: Sequence[Trials]) -> float | None:
    """Return the mean share of pairs of trials, of one case and side, that end differently.

    A comparison with an equal side would show as much by chance alone. Cases with fewer than two
    judged trials are left out; ``None`` when no case is left. The estimate is unbiased: 2·c·(m −
    c)/(m·(m − 1)).
    """
    repeated = [(passed, total) for passed, total in cases if total > 1]
    return compute_mean([2 * c * (m - c) / (m * (m - 1)) for c, m in repeated])


def measure_discordance(pairs: Sequence[tuple[Trials, Trials]]) -> float | None:
    """Return how often a trial of one side and one of the other end differently, over ``pairs``.

    Each pair is one case on both sides. A case without a judged trial on one side is left out;
    ``None`` when no case is left.
    """
    shares = []
    for (passed, total), (other_passed, other_total) in pairs:
        if total and other_total:
            p, q = passed / total, other_passed / other_total
            shares.append(p * (1 - q) + q * (1 - p))
    return compute_mean(shares)


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
    power = a * log(x) + b * (log1p(-x) if x < rest else log(rest))
    front = exp(power + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
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


Z95 = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""

Interval: TypeAlias = tuple[float, float]
"""Lower and upper bound."""


def wilson_interval(passed: float, total: float, z: float = Z95) -> Interval | None:
    """Return the Wilson interval of ``passed`` / ``total``; ``None`` if ``total`` is 0.

    Source: Wilson 1927. ``total`` may be a fraction, such as an effective number of trials; ``z``
    is the normal quantile of the level, in all functions here.
    """
    if total <= 0:
        return None
    rate, z2 = passed / total, z * z
    scale = 1 + z2 / total
    centre = (rate + z2 / (2 * total)) / scale
    half = z / scale * sqrt(rate * (1 - rate) / total + z2 / (4 * total * total))
    # Exact at both ends, where rounding would leave a tiny rest.
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == total else min(1.0, centre + half)
    return low, high


def newcombe_interval(
    passed: float, total: float, other_passed: float, other_total: float, z: float = Z95
) -> Interval | None:
    """Return the interval of the first rate minus the second, of two unrelated samples.

    ``None`` when one of them is empty.

    Source: Newcombe 1998, Statistics in Medicine 17:873, method 10 (square and add, from Wilson
    intervals).
    """
    first, second = wilson_interval(passed, total, z), wilson_interval(other_passed, other_total, z)
    if first is None or second is None:
        return None
    return _square_and_add(passed / total, first, other_passed / other_total, second, 0.0)


def newcombe_paired(
    both: int, first_only: int, second_only: int, neither: int, z: float = Z95
) -> Interval | None:
    """Return the interval of the first rate minus the second, of two samples of the same cases.

    The arguments count cases: passed in both, only in the first, only in the second, in neither.
    ``None`` when there is no case.

    Source: Newcombe 1998, Statistics in Medicine 17:2635, method 10: square and add, reduced by the
    correlation of the pairs (with his continuity correction).
    """
    total = both + first_only + second_only + neither
    one, two = both + first_only, both + second_only
    first, second = wilson_interval(one, total, z), wilson_interval(two, total, z)
    if first is None or second is None:
        return None
    # The correction applies to a positive correlation alone, and must not turn it negative.
    product = float(both * neither - first_only * second_only)
    if product > 0:
        product = max(product - total / 2, 0.0)
    margins = one * (second_only + neither) * two * (first_only + neither)
    correlation = product / sqrt(margins) if margins else 0.0
    return _square_and_add(one / total, first, two / total, second, correlation)


def paired_interval(differences: Sequence[float], alpha: float = 0.05) -> Interval | None:
    """Return the 1 − ``alpha`` t interval of the mean of ``differences``, one a case.

    It is cut at −1 and 1. ``None`` for fewer than two, and when all are equal: a spread of 0 cannot
    be inferred from a finite sample.
    """
    if len(set(differences)) < 2:  # noqa: PLR2004 - two values have a spread
        return None
    centre, count = fmean(differences), len(differences)
    half = t_quantile(1 - alpha / 2, count - 1) * stdev(differences) / sqrt(count)
    return max(-1.0, centre - half), min(1.0, centre + half)


def _square_and_add(
    p: float, one: Interval, q: float, two: Interval, correlation: float
) -> Interval:
    down, up = (p - one[0], two[1] - q), (one[1] - p, q - two[0])
    lower, upper = (sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b)) for a, b in (down, up))
    return p - q - lower, p - q + upper


def compute_mean(values: Sequence[float]) -> float | None:
    """Return the mean of ``values``; ``None`` if there are none."""
    return fmean(values) if values else None


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean of ``values``, one a case: s/√n, with n − 1 in s².

    ``None`` for fewer than two values: one value has no spread.

    Source: Miller 2024, "Adding Error Bars to Evals", section 2.1.
    """
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def effective_trials(rates: Sequence[float], trials: int) -> float | None:
    """Return the effective number of independent trials, from the spread of ``rates``.

    ``rates`` has one rate a case. The number is p(1 − p)/SE², at most ``trials`` (all trials).
    Where p is 0 or 1, or there is only one case, it is the number of cases. ``None`` when there is
    no case.
    """
    if not rates:
        return None
    rate, error = fmean(rates), standard_error(rates)
    if error is None or rate <= 0 or rate >= 1:
        return float(len(rates))
    return min(float(trials), rate * (1 - rate) / error**2) if error else float(trials)


def rate_interval(rates: Sequence[float], trials: int) -> Interval | None:
    """Return the 95 % interval of the mean of ``rates``, one a case, over ``trials`` trials.

    With one trial a case it is Wilson's interval; with repeats, Wilson's at `effective_trials`.
    ``None`` when there is no case.

    Source: Bowyer et al. 2025 (arXiv 2503.01747) on why it is not a normal interval.
    """
    size = float(trials) if trials == len(rates) else effective_trials(rates, trials)
    return wilson_interval(fmean(rates) * size, size) if size else None


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that at least one of ``k`` of the ``n`` trials passed, ``c`` of which did.

    ``None`` when ``n`` < ``k``; k is never lowered silently.

    Source: Chen et al. 2021 (arXiv 2107.03374): 1 − C(n − c, k)/C(n, k).
    """
    return 1 - comb(n - c, k) / comb(n, k) if n >= k else None


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Return the chance that all of ``k`` of the ``n`` trials passed, ``c`` of which did: pass^k.

    A trial without a verdict counts in ``n`` and not in ``c``. ``None`` when ``n`` < ``k``.

    Source: Yao et al. 2024 (arXiv 2406.12045): C(c, k)/C(n, k).
    """
    return comb(c, k) / comb(n, k) if n >= k else None
