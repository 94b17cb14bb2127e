"""The correlation of the trials of one case, and how often two trials of it end differently."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias, TypeVar

Case = TypeVar("Case")
Trials: TypeAlias = tuple[float, int]
"""Trials of one case that passed, and trials that were judged. Those that passed are a fraction
where a case is asked in several ways (`merge_trials`)."""


def merge_trials(levels: Sequence[Trials]) -> Trials:
    """Return the trials of a case that is asked in several ways, as if it were asked in one.

    Whoever asks the same, be it as several identities, learns little more of the next case: so the
    rate is the mean over the ways, and there are as many trials as in the way that has most. A way
    that is there twice changes nothing. Ways without a judged trial are left out.
    """
    judged = [(passed, total) for passed, total in levels if total]
    if len(judged) < 2:  # noqa: PLR2004 - nothing to put together
        return judged[0] if judged else (0, 0)
    total = max(total for _, total in judged)
    return fmean(passed / of for passed, of in judged) * total, total


def merge_row(ways: Sequence[Sequence[Trials]]) -> list[Trials]:
    """Return the trials under each condition of a case that is asked in several ways.

    Each way has one entry for each condition, in the same order. Ways that were not judged under
    every condition are left out, unless no other is there.
    """
    judged = [way for way in ways if all(total for _, total in way)]
    return [merge_trials(levels) for levels in zip(*(judged or ways), strict=True)]


def group_cases(cases: Iterable[str], tests: Mapping[str, str]) -> list[list[str]]:
    """Return ``cases``, those together that are the ways in which one test is asked.

    ``tests`` has the test of each case that is asked in several ways; others stand alone.
    """
    found: dict[tuple[str, bool], list[str]] = {}
    for case in cases:
        found.setdefault((tests.get(case, case), case in tests), []).append(case)
    return [*found.values()]


def average_tests(
    tests: Iterable[Iterable[Case]], measure: Callable[[Case], float | None]
) -> list[float]:
    """Return the mean of ``measure`` over the cases of each test, where it is not ``None``."""
    found = [[value for case in test if (value := measure(case)) is not None] for test in tests]
    return [fmean(values) for values in found if values]


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
    shares = [
        2 * passed * (total - passed) / (total * (total - 1))
        for passed, total in cases
        if total > 1
    ]
    return fmean(shares) if shares else None


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
    return fmean(shares) if shares else None
