"""Judge a run log: its results in the order of its suites, each with its final status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.judging.policy import View
from harness.judging.run_judge import (
    AccessFacts,
    Order,
    RunJudge,
    find_compared_suites,
    why_unobserved,
)
from harness.judging.trial_views import build_view
from harness.runlog import Header, RunLog, sort_results, store_results
from harness.types import TrialResult


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """The judged results of a log."""

    results: Sequence[TrialResult]
    """All settled results in the order of the suites."""
    facts: AccessFacts
    """The comparison of what each identity saw."""


def judge_log(log: RunLog) -> JudgedLog:
    """Judge the results of ``log``; transcripts are read only to compare identities."""
    order = order_by_header(log.header)
    judge = RunJudge(suites=log.header.suites, order=order)
    # Sorting reads all results, so the judge has every one of them before it is closed.
    results = sort_results(_add_results(log, judge), order, log.results)
    judged = {result.key: result for result in judge.close()}
    settled = store_results(
        (_apply_review(judged.get(result.key, result), log) for result in results), log.results
    )
    _note_unobserved(settled, results, log, judge.facts)
    return JudgedLog(settled, judge.facts)


def _add_results(log: RunLog, judge: RunJudge) -> Iterator[TrialResult]:
    """Yield each result of ``log``, after it was given to ``judge``."""
    for result in log.results:
        # Made when it is needed, which is only where identities are compared.
        judge.add_result(result, partial(logged_view, log, result))
        yield result


def _apply_review(result: TrialResult, log: RunLog) -> TrialResult:
    review = log.reviews.get(result.key) if log.by_people else None
    # A person can overrule a verdict, but not make one of an error.
    if review is None or result.status not in {"passed", "failed"}:
        return result
    return replace(result, status=review.verdict)


def order_by_header(header: Header) -> Order:
    """Return the sort key that puts results in the order of ``header``, by suite, case, entrant …

    In a log, results are in the order in which the trials ended.
    """
    cases = {suite: facts.get("cases", ()) for suite, facts in header.suites.items()}
    return order_by_names(cases, header.entrants)


def order_by_names(cases: Mapping[str, Iterable[str]], entrants: Iterable[str]) -> Order:
    """Return the sort key by the position of a result's suite, case and entrant."""
    suite_places = {suite: place for place, suite in enumerate(cases)}
    case_places = {
        (suite, name): place for suite, names in cases.items() for place, name in enumerate(names)
    }
    entrant_places = {name: place for place, name in enumerate(entrants)}
    # What the header does not name comes last.
    last = len(case_places) + len(entrant_places) + len(suite_places)
    return lambda result: (
        suite_places.get(result.suite, last),
        case_places.get((result.suite, result.case.name), last),
        entrant_places.get(result.entrant, last),
        result.trial,
    )


def logged_view(log: RunLog, result: TrialResult) -> View | None:
    """Return what the identity of a logged trial saw; ``None`` if the trial was not started."""
    transcript = log.read_transcript(result.key) if result.stop is not None else None
    if transcript is None:
        return None
    return build_view(result, transcript, log.tools, log.header.suites)


def _find_view(log: RunLog, results: Mapping[str, TrialResult], key: str) -> View | None:
    return logged_view(log, results[key])


def _note_unobserved(
    settled: Iterable[TrialResult], results: Iterable[TrialResult], log: RunLog, facts: AccessFacts
) -> None:
    """Note the suites without ``require_identity`` in which no identity was observed."""
    left = find_compared_suites(settled) - facts.unobserved.keys()
    by_suite: dict[str, dict[str, TrialResult]] = {}
    for result in results if left else ():
        if result.suite in left:
            by_suite.setdefault(result.suite, {})[result.key] = result
    for suite, own in by_suite.items():
        why = why_unobserved(tuple(own.values()), partial(_find_view, log, own))
        if why is not None:
            facts.unobserved[suite] = why
