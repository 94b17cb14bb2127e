"""Planning: how many cases a difference needs, and which difference a number of cases can show."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from statistics import NormalDist

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
    smallest = max(
        _compute_z(alpha, power) * sqrt(variance / count),
        fewest / count / max(trials, other_trials),
    )
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
