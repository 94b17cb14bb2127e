"""Entries for cases without a result, and for failures of the run as a whole.

Without them a report would look better than the exit code of the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from harness.canonical_json import digest
from harness.runlog import RunLog
from harness.types import CaseFacts, CheckResult, TrialError, TrialResult

WHOLE_RUN = "the run as a whole"
"""Name of the entry for the run as a whole."""
NO_TRIAL = -1
"""Index of that entry, which does not count as a trial."""


def missing_results(log: RunLog, results: Sequence[TrialResult]) -> Iterator[TrialResult]:
    """Yield an entry that has not passed for everything that ``results`` of ``log`` lack.

    These are: each planned case without a trial, if the log names the cases; the fault in the
    footer; and the early end of a run whose results would all have passed.
    """
    footer = log.footer
    lacking = log.header.planned - len(results)
    unrun = _unrun(log, results)
    told = unrun if 0 < len(unrun) <= lacking else []
    yield from told
    if footer is not None and footer.fault is not None:
        yield _faulty(_entry(log, results), footer.fault, ended=footer.reason == "complete")
    elif not told and {result.status for result in results} <= {"passed"}:
        partial = any(result.repeats > 1 for result in results)  # cases show missing repeats
        if lacking > 0 and not partial:
            yield _entry(log, results, f"{lacking} planned trials have no result")
        elif footer is None or footer.reason == "interrupted":
            yield _entry(log, results, "interrupted")


def _unrun(log: RunLog, results: Sequence[TrialResult]) -> list[TrialResult]:
    """Return a cancelled result for each case and model of the header without a result."""
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
    """Return ``entry`` with a fault: as a failure if the run was completed, else as an error."""
    if not ended:
        error = TrialError(kind="harness", message=fault)
        return replace(entry, status="error", error=error)
    check = CheckResult(kind="run", label="run", verdict="failed", explanation=fault)
    return replace(entry, status="failed", checks=(check,))
