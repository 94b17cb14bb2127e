"""Planning: how many cases a difference needs, and which difference a number of cases can show."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import ceil, exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

from harness.base.stats.intervals import incomplete_beta, t_quantile

ALPHA = 0.05
"""Two-sided significance level: how often chance alone may look like evidence."""
POWER = 0.8
"""Chance with which a difference of the stated size must be detected."""


def cases_needed(
    difference: float,
    *,
    between: float,
    within: float = 0.0,
    other_within: float = 0.0,
    trials: int = 1,
    other_trials: int = 1,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int:
    """Return how many cases show a true ``difference`` of mean pass rates (δ) with ``power``.

    Args:
        difference: 0 < δ ≤ 1, as a rate: 0.03 is three percentage points.
        between: ω², the variance over cases of the true difference.
        within: σ_A², the variance of one trial of a case in the first run.
        other_within: σ_B², the same of the second.
        trials: K_A, trials a case in the first run.
        other_trials: K_B, the same of the second.
        alpha: Two-sided level.
        power: Chance to detect it.

    Source: Miller 2024, section 5: n = (z_{α/2} + z_β)²(ω² + σ_A²/K_A + σ_B²/K_B)/δ².
    """
    variance = between + within / trials + other_within / other_trials
    return ceil(_compute_z(alpha, power) ** 2 * variance / difference**2)


def smallest_difference(
    differences: Sequence[float],
    *,
    trials: float = 1,
    other_trials: float = 1,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the smallest true difference that this number of cases detects with ``power``.

    The variance ω² + σ_A²/K_A + σ_B²/K_B is `estimate_spread`. The result is never below the
    minimum of the exact test: enough cases that change by one trial in the same direction. ``None``
    when not even a change of every case would be evidence.

    Args:
        differences: Difference of the pass rates, one a case.
        trials: K_A, trials a case in the first run; a mean where they vary.
        other_trials: K_B, the same of the second.
        alpha: Two-sided level, after a correction for several tests.
        power: Chance to detect it.

    Sources: `cases_needed` solved for δ; Bonett and Price 2012 for the two added cases; sign test.
    """
    count, fewest = len(differences), 1
    # The smallest p-value of the exact test: so many cases, all changed in one direction.
    while 2 / 2**fewest > alpha:
        fewest += 1
    if count < fewest:
        return None
    variance = estimate_spread(differences, trials, other_trials)
    shown = _compute_z(alpha, power) * sqrt(variance / count)
    smallest = max(shown, fewest / count / max(trials, other_trials))
    return smallest if smallest <= 1 else None


def estimate_spread(
    differences: Sequence[float], trials: float = 1, other_trials: float = 1
) -> float:
    """Return the variance of ``differences`` of pass rates, one a case.

    One case that improved by a trial and one that worsened by a trial are added, so that a few
    equal cases do not look like certainty. Source: Bonett and Price 2012.
    """
    count = len(differences)
    squares = sum(d * d for d in differences) + 1 / trials + 1 / other_trials
    return squares / (count + 2) - (sum(differences) / (count + 2)) ** 2


def _compute_z(alpha: float, power: float) -> float:
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)


_PRECISION = 1e-4
"""Tolerance of a detectable difference: a hundredth of a percentage point."""


def pairs_needed(
    difference: float, discordance: float, *, alpha: float = ALPHA, power: float = POWER
) -> int:
    """Return how many cases show a true ``difference`` of pass rates with one trial a side.

    Args:
        difference: δ > 0, as a rate: 0.1 is ten percentage points.
        discordance: ψ, at least δ: a difference of δ takes at least that share of discordant pairs.
        alpha: Two-sided level.
        power: Chance to detect it.

    Raises:
        ValueError: ``discordance`` is below ``difference``.

    Source: Connor 1987, Biometrics 43:207: n = (z_{α/2}·√ψ + z_β·√(ψ − δ²))²/δ².
    """
    if discordance < difference:
        raise ValueError(f"a difference of {difference} needs a discordance of at least as much")
    normal = NormalDist()
    spread = normal.inv_cdf(1 - alpha / 2) * sqrt(discordance)
    spread += normal.inv_cdf(power) * sqrt(discordance - difference**2)
    return _round_up(spread**2 / difference**2)


def count_pairs_needed(
    margin: float, discordance: float, *, alpha: float = ALPHA, power: float = POWER
) -> int:
    """Return how many cases show that one side is worse by less than ``margin``, if both are equal.

    ``alpha`` is one-sided. Source: n = (z_α + z_β)²·ψ/margin².
    """
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha) + normal.inv_cdf(power)
    return _round_up(z**2 * discordance / margin**2)


def effective_repeats(trials: float, icc: float) -> float:
    """Return the effective number of ``trials`` of one case: m/(1 + (m − 1)·ICC).

    Source: Kish 1965, the design effect of clusters.
    """
    return trials / (1 + (trials - 1) * icc)


def detectable_difference(
    cases: int,
    discordance: float,
    *,
    trials: int = 1,
    icc: float = 0.0,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float | None:
    """Return the smallest true difference that ``cases`` with ``trials`` a side detect.

    "Detect" means with ``power``. With one trial a side this is the power of McNemar's exact test;
    with repeats that of Student's test of the cases' differences, whose variance is (ψ − δ²)
    divided by `effective_repeats`. A discordance below the difference is raised to it. ``None``
    when not even a difference of 1 would be detected.
    """

    def is_detected(difference: float) -> bool:
        return _compute_power(cases, difference, discordance, trials, icc, alpha) >= power

    low, high = 0.0, 1.0
    if not is_detected(high):
        return None
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if is_detected(middle) else (middle, high)
    return high


def count_cases_needed(
    difference: float,
    discordance: float,
    *,
    trials: int = 1,
    icc: float = 0.0,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int:
    """Return how many cases make ``difference`` detectable (`detectable_difference`).

    The power of an exact test can fall a little from one number of cases to the next. The result is
    the first number from which such dips no longer matter, within a case or two.
    """

    def is_sufficient(cases: int) -> bool:
        return _compute_power(cases, difference, discordance, trials, icc, alpha) >= power

    low, high = 0, 8
    while not is_sufficient(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_sufficient(middle) else (middle, high)
    return high


def compute_mcnemar_power(
    cases: int, difference: float, discordance: float, *, alpha: float = ALPHA
) -> float:
    """Return the power of McNemar's exact test for ``difference`` with one trial a side.

    The number of discordant pairs is binomial, and so is the number of improved ones among them;
    the power is the sum of the probabilities of all outcomes with p ≤ ``alpha``.
    """
    up = (discordance + difference) / (2 * discordance)
    total = 0.0
    for moved, chance in _list_binomial(cases, discordance):
        fewest = _find_decisive_count(moved, alpha)
        if fewest is not None:
            # Source: DLMF 8.17.5, the tail of a binomial as an incomplete beta function.
            found = 1.0 if up >= 1 else incomplete_beta(fewest, moved - fewest + 1, up)
            total += chance * found
    return total


def _compute_power(
    cases: int, difference: float, discordance: float, trials: int, icc: float, alpha: float
) -> float:
    share = max(discordance, difference)
    if trials == 1:
        return compute_mcnemar_power(cases, difference, share, alpha=alpha)
    variance = (share - difference**2) / effective_repeats(trials, icc)
    return _compute_student_power(cases, difference, variance, alpha)


@cache
def _find_decisive_count(moved: int, alpha: float) -> int | None:
    """Return how many of ``moved`` discordant pairs must improve to be evidence, or ``None``."""
    term, tail, worse = 1, 0, 0
    # In whole numbers: the two-sided p-value is 2·tail/2^moved, so the tail has this bound.
    allowed = Fraction(alpha) * Fraction(2) ** (moved - 1)
    while worse <= moved // 2 and tail + term <= allowed:
        tail += term
        term = term * (moved - worse) // (worse + 1)
        worse += 1
    return moved - worse + 1 if worse else None


def _compute_student_power(cases: int, difference: float, variance: float, alpha: float) -> float:
    if cases < 2:  # noqa: PLR2004 - one case has no spread
        return 0.0
    if variance <= 0:
        return 1.0
    shift = difference / sqrt(variance / cases)
    # The noncentral t distribution, by its normal approximation in the quantile.
    # Source: Johnson and Welch 1940, as in Abramowitz and Stegun 26.7.10.
    df, t = cases - 1, t_quantile(1 - alpha / 2, cases - 1)
    return NormalDist().cdf((shift - t * (1 - 1 / (4 * df))) / sqrt(1 + t * t / (2 * df)))


def _list_binomial(count: int, chance: float) -> list[tuple[int, float]]:
    """Yield each number of successes with its probability; negligible ones are left out."""
    if chance <= 0 or chance >= 1:
        return [(0 if chance <= 0 else count, 1.0)]
    whole = lgamma(count + 1)
    terms = []
    for k in range(count + 1):
        exponent = whole - lgamma(k + 1) - lgamma(count - k + 1)
        exponent += k * log(chance) + (count - k) * log1p(-chance)
        if exponent > -40:  # noqa: PLR2004 - less than 1e-17 changes no digit that is shown
            terms.append((k, exp(exponent)))
    return terms


def _round_up(number: float) -> int:
    """Round up, but ignore rounding errors of floats: 155.00000000000003 becomes 155."""
    return ceil(number - 1e-9)
