"""Several trials of each case: averaged per case first, since they are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, sqrt
from statistics import fmean, stdev

from harness.base.stats.intervals import Interval, wilson_interval


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
