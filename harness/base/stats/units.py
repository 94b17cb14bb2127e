"""The unit of evidence: a test of a suite, however often and in however many ways it is asked.

Cases of one test are alike: its identities, the values of its matrix, its wordings, its trials.
Whoever knows how one of them ended knows little less than whoever knows how all of them did. So
every interval, test and power counts tests. What is a test is written in `Case.test`, and how its
cases are put together is written here, for all who count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Trials: TypeAlias = tuple[float, int]
"""Trials of one case that passed, and trials that were judged. Those that passed are a fraction
where a case is asked in several ways (`merge_trials`)."""


def group_by_test(cases: Iterable[tuple[str, str | None, T]]) -> list[list[T]]:
    """Return what belongs to each unit, from ``(suite, test or None, what is known of a case)``.

    A case without a test stands alone. Units are in the order of their first cases.
    """
    units: list[list[T]] = []
    # Only those of several cases are looked up again: a large run may have a million others.
    tests: dict[tuple[str, str], list[T]] = {}
    for suite, test, its in cases:
        known = None if test is None else tests.get((suite, test))
        if known is not None:
            known.append(its)
            continue
        units.append([its])
        if test is not None:
            tests[suite, test] = units[-1]
    return units


def group_cases(cases: Iterable[str], tests: Mapping[str, str]) -> list[list[str]]:
    """Return the different ``cases`` of one suite by unit; ``tests`` is as of `group_by_test`."""
    return group_by_test(("", tests.get(case), case) for case in dict.fromkeys(cases))


def merge_trials(levels: Sequence[Trials]) -> Trials:
    """Return the trials of a case that is asked in several ways, as if it were asked in one.

    The rate is the mean over the ways, and there are as many trials as in the way that has most. A
    way that is there twice changes nothing. Ways without a judged trial are left out.
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


def average_tests(
    tests: Iterable[Iterable[T]], measure: Callable[[T], float | None]
) -> list[float]:
    """Return the mean of ``measure`` over the cases of each test, where it is not ``None``."""
    found = [[value for case in test if (value := measure(case)) is not None] for test in tests]
    return [fmean(values) for values in found if values]
