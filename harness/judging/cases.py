"""The verdict on a case, from the results of its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, starmap
from typing import Any, TypeAlias

from harness.judging.access import NO_LEAK, is_leaking
from harness.runlog import ResultBlocks
from harness.types import (
    CaseFacts,
    CaseResult,
    CheckResult,
    Status,
    TrialResult,
    count_needed_passes,
)

_Asked: TypeAlias = tuple[str, str, str]
"""Suite, case and entrant."""


def case_results(results: Iterable[TrialResult]) -> tuple[CaseResult, ...]:
    """Return the verdict on each case and entrant, from settled ``results``."""
    # These are on disk: a case keeps only the places of its trials.
    if isinstance(results, ResultBlocks):
        return tuple(map(_case_result, _split_by_case(results)))
    groups: dict[_Asked, list[TrialResult]] = {}
    for result in results:
        groups.setdefault(_get_case(result), []).append(result)
    return tuple(_case_result(tuple(trials)) for trials in groups.values())


def _get_case(result: TrialResult) -> _Asked:
    return result.suite, result.case.name, result.entrant


def _split_by_case(results: ResultBlocks) -> Iterator[Sequence[TrialResult]]:
    """Yield the trials of each case: one range of ``results``, unless they are in no order."""
    places: dict[_Asked, tuple[range, ...]] = {}
    start = 0
    for asked, together in groupby(map(_get_case, results)):
        end = start + sum(1 for _ in together)
        places[asked] = (*places.get(asked, ()), range(start, end))
        start = end
    return starmap(results.select_places, places.values())


def _case_result(trials: Sequence[TrialResult]) -> CaseResult:
    first = trials[0]
    planned = max(len(trials), *(trial.repeats for trial in trials))
    share = first.case.pass_threshold
    return CaseResult(
        suite=first.suite,
        case=first.case.name,
        model=first.model,
        axes=first.axes,
        status=_case_status(trials, planned, count_needed_passes(planned, share)),
        trials=trials,
        planned=planned,
        pass_threshold=share,
    )


def _case_status(trials: Sequence[TrialResult], planned: int, needed: int) -> Status:
    """Return the verdict; trials that are still open never count as passed."""
    endings = Counter(trial.status for trial in trials)
    # A leak fails the case whatever its other repeats did.
    if any(is_leaking(trial) for trial in trials):
        return "failed"
    if endings["passed"] >= needed:
        return "passed"
    # Even if all others passed, they would be too few.
    if planned - endings["failed"] < needed:
        return "failed"
    # Of several hindrances, the one that needs attention most is told.
    hindrances: tuple[Status, ...] = ("error", "cancelled", "skipped")
    return next((status for status in hindrances if endings[status]), "cancelled")


def counted_result(case: CaseFacts, *, leaks: bool, **counted: Any) -> TrialResult:
    """Return a trial that was judged before; of its checks only the one on a leak is known.

    ``counted`` are fields of `TrialResult`, as far as the verdicts on cases, and the sums, need it.
    """
    leak = CheckResult(kind=NO_LEAK, label=NO_LEAK, verdict="failed")
    return TrialResult(key="", case=case, checks=(leak,) if leaks else (), **counted)
