"""The verdict on a case, from the results of its trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.judging.access_checks import is_leaking
from harness.types import CaseResult, Status, TrialResult, needed_of


def case_results(results: Iterable[TrialResult]) -> tuple[CaseResult, ...]:
    """Return the verdict on each case and model, from settled ``results``."""
    groups: dict[tuple[str, str, str], list[TrialResult]] = {}
    for result in results:
        groups.setdefault((result.suite, result.case.name, result.model), []).append(result)
    return tuple(_case_result(trials) for trials in groups.values())


def _case_result(trials: Sequence[TrialResult]) -> CaseResult:
    first = trials[0]
    planned = max(len(trials), *(one.repeats for one in trials))
    share = first.case.pass_threshold
    return CaseResult(
        suite=first.suite,
        case=first.case.name,
        model=first.model,
        status=_status(trials, planned, needed_of(planned, share)),
        trials=tuple(trials),
        planned=planned,
        pass_threshold=share,
    )


def _status(trials: Sequence[TrialResult], planned: int, needed: int) -> Status:
    """Return the verdict; trials that are still open never count as passed."""
    endings = Counter(one.status for one in trials)
    if any(is_leaking(one) for one in trials):
        return "failed"
    if endings["passed"] >= needed:
        return "passed"
    if planned - endings["failed"] < needed:
        return "failed"
    hindrances: tuple[Status, ...] = ("error", "cancelled", "skipped")
    return next((status for status in hindrances if endings[status]), "cancelled")
