"""What a run lacks, as results: a case without any, and what fails the run but none of its cases.

A report that shows only what is there would look better than the exit code.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from harness.canonical_json import digest
from harness.runlog import RunLog
from harness.types import CaseFacts, CheckResult, TrialError, TrialResult

WHOLE_RUN = "the run as a whole"
"""Name of the entry for what is about no case."""
NO_TRIAL = -1
"""Index of that entry, which is no trial and counts as none."""


def missing_results(log: RunLog, results: Sequence[TrialResult]) -> Iterator[TrialResult]:
    """Yield a result that is no pass for each thing that ``results``, those of ``log``, lack.

    These are: each case of the plan without any trial, where the log tells which; the fault in its
    footer; and the early end of a run whose results alone would all have passed.
    """
    footer = log.footer
    lacking = log.header.planned - len(results)
    unrun = _unrun(log, results)
    told = unrun if 0 < len(unrun) <= lacking else []
    yield from told
    if footer is not None and footer.fault is not None:
        yield _faulty(_entry(log, results), footer.fault, ended=footer.reason == "complete")
    elif not told and {result.status for result in results} <= {"passed"}:
        partial = any(result.repeats > 1 for result in results)  # its case says what is missing
        if lacking > 0 and not partial:
            yield _entry(log, results, f"{lacking} planned trials have no result")
        elif footer is None or footer.reason == "interrupted":
            yield _entry(log, results, "interrupted")


def _unrun(log: RunLog, results: Sequence[TrialResult]) -> list[TrialResult]:
    """Return a cancelled result for each case of the header, by model, that has none."""
    asked = {(result.suite, result.case.name, result.model) for result in results}
    return [
        _cancelled(suite, case, model)
        for suite, facts in log.header.suites.items()
        for case in facts.get("cases", ())
        for model in log.header.models
        if (suite, case, model) not in asked
    ]


def _cancelled(suite: str, case: str, model: str) -> TrialResult:
    return TrialResult(
        key=digest(["no result", suite, case, model]),
        suite=suite,
        case=CaseFacts(name=case),
        model=model,
        index=0,
        status="cancelled",
        skip_reason="the run ended without a result of this case",
    )


def _entry(log: RunLog, results: Collection[TrialResult], reason: str = "") -> TrialResult:
    first = next(iter(results), None)
    suite = first.suite if first else next(iter(log.header.suites), "")
    model = first.model if first else next(iter(log.header.models), "")
    return TrialResult(
        key=digest(["the whole", suite, model]),
        suite=suite,
        case=CaseFacts(name=WHOLE_RUN),
        model=model,
        index=NO_TRIAL,
        status="cancelled",
        skip_reason=reason or None,
    )


def _faulty(entry: TrialResult, fault: str, *, ended: bool) -> TrialResult:
    """Return ``entry`` with a fault: a failure of a run that came to its end, else an error."""
    if not ended:
        error = TrialError(kind="harness", message=fault)
        return replace(entry, status="error", error=error)
    check = CheckResult(kind="run", label="run", verdict="failed", explanation=fault)
    return replace(entry, status="failed", checks=(check,))
