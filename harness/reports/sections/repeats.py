"""Figures from several trials of each case: flaky cases, pass@k and pass^k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, TypeAlias

from harness.base import (
    compute_mean,
    group_by_test,
    make_one_line,
    pass_at_k,
    pass_hat_k,
    standard_error,
)
from harness.reports.case_names import case_name
from harness.reports.sections.sentences import group_by_subject
from harness.types import DECIDED, CaseResult, Report, dataclass

_Tally: TypeAlias = tuple[int, int]
"""Trials of a case that were started, and that passed."""
_WHOLE_CURVE = (3, 8)
"""From and up to how many trials pass^k is listed for every k: fewer are no curve, more fill no
line."""
_MOST = 10
"""Flaky cases that are named in a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """How reliably one model passes, by k: the mean over its cases."""

    k: int
    """Trials that are looked at together."""
    pass_at_k: float | None
    """Chance that at least one of k trials passes; ``None`` when a case has fewer than k."""
    pass_hat_k: float | None
    """Chance that all of k trials pass (pass^k); likewise."""
    standard_error: float | None
    """Of `pass_hat_k`, over cases; ``None`` for fewer than two cases."""


def is_flaky(case: CaseResult) -> bool:
    """Whether some of the case's judged trials passed and others did not."""
    endings = {result.status for result in case.trials}
    return {"passed", "failed"} <= endings


def compute_reliability(cases: Sequence[CaseResult]) -> list[Reliability]:
    """Return the figures of one model's ``cases`` for every k up to the most trials of any.

    They are means over tests: the cases of one test count as one.
    """
    tests = group_by_test(
        (
            case.suite,
            case.deciding_trial.case.test,
            # An error was not a pass, a skipped one never ran.
            (sum(result.status != "skipped" for result in case.trials), case.passed_count),
        )
        for case in cases
    )
    most = max((n for tallies in tests for n, _ in tallies), default=0)
    return [_estimate_reliability(tests, k) for k in range(1, most + 1)]


def repeat_lines(report: Report) -> Iterator[str]:
    """Yield a summary's lines on repeats; none when every case ran once."""
    groups = group_by_subject(report.cases)
    suites, models = ({key[place] for key in groups} for place in (0, 1))
    for (suite, entrant), cases in groups.items():
        known = [one for one in compute_reliability(cases) if one.pass_hat_k is not None]
        if known and known[-1].k > 1:
            last, k = known[-1], known[-1].k
            told = ([entrant] if len(models) > 1 else []) + ([suite] if len(suites) > 1 else [])
            of = f" [{make_one_line(' on '.join(told))}]" if told else ""
            some, every = 100 * (last.pass_at_k or 0), 100 * (last.pass_hat_k or 0)
            yield (
                f"pass@{k} {some:.0f} % (at least one of {k} trials passes) · "
                f"pass^{k} {every:.0f} % (all of {k} pass){of}"
            )
            if _WHOLE_CURVE[0] <= k <= _WHOLE_CURVE[1]:
                yield " · ".join(f"pass^{one.k} {one.pass_hat_k or 0:.3f}" for one in known) + of
    if spared := sum(map(_count_spared, report.cases)):
        yield f"{spared} of the skipped trials could not have changed their case's verdict"
    if flaky := [case for case in report.cases if is_flaky(case)]:
        names = ", ".join(
            f"{case_name(case, report)} {case.passed_count}/"
            f"{sum(result.status in {'passed', 'failed'} for result in case.trials)}"
            for case in flaky[:_MOST]
        )
        more = f" and {len(flaky) - _MOST} more" if len(flaky) > _MOST else ""
        yield f"flaky (passed sometimes): {names}{more}"


def trials_needed(case: CaseResult) -> int:
    """Return how many planned trials were needed to decide the case."""
    return case.planned - _count_spared(case)


def trials_passed(case: CaseResult) -> str:
    """Return ``2 of 3 trials passed, 7 more not needed``."""
    spared = _count_spared(case)
    rest = f", {spared} more not needed" if spared else ""
    return f"{case.passed_count} of {trials_needed(case)} trials passed{rest}"


def repeats_json(cases: Sequence[CaseResult]) -> dict[str, Any]:
    """Return one model's flaky cases and its figures by k, as JSON; empty without repeats."""
    figures = compute_reliability(cases)
    if len(figures) < 2:  # noqa: PLR2004 - two trials are repeats
        return {}
    return {
        "flaky": [case.case for case in cases if is_flaky(case)],
        "pass_at_k": {str(figure.k): figure.pass_at_k for figure in figures},
        "pass_hat_k": {str(figure.k): figure.pass_hat_k for figure in figures},
        "pass_hat_k_standard_error": {str(figure.k): figure.standard_error for figure in figures},
    }


def _count_spared(case: CaseResult) -> int:
    return sum(result.skip_reason == DECIDED for result in case.trials)


def _estimate_reliability(tests: Sequence[Sequence[_Tally]], k: int) -> Reliability:
    """Return the figures of ``tests``, each with the tallies of its cases."""
    # Without the cases that have fewer trials, the mean would be one of other cases for each k.
    if any(n < k for tallies in tests for n, _ in tallies):
        return Reliability(k=k, pass_at_k=None, pass_hat_k=None, standard_error=None)
    at_least_one = [fmean(pass_at_k(n, c, k) or 0 for n, c in tallies) for tallies in tests]
    all_of_them = [fmean(pass_hat_k(n, c, k) or 0 for n, c in tallies) for tallies in tests]
    return Reliability(
        k=k,
        pass_at_k=compute_mean(at_least_one),
        pass_hat_k=compute_mean(all_of_them),
        standard_error=standard_error(all_of_them),
    )
