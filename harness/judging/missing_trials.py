"""Entries for cases without a result, and for failures of the run as a whole.

Without them a report would look better than the exit code of the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Protocol

from harness.base import digest_json
from harness.runlog import Footer, Header, RunLog
from harness.types import CaseFacts, CheckResult, JsonObject, Status, TrialError, TrialResult

WHOLE_RUN = "the run as a whole"
"""Name of the entry for the run as a whole."""
NO_TRIAL = 0
"""Number of that entry, which does not count as a trial."""


class RecordedResults(Protocol):
    """The results of a run, as far as it must be known what they lack."""

    def __len__(self) -> int:
        """Return their number, without those beyond the plan."""
        ...

    def list_cases(self) -> Collection[tuple[str, str, str]]:
        """Return suite, case and entrant of each."""
        ...

    def list_statuses(self) -> AbstractSet[Status]:
        """Return every status that occurs."""
        ...

    def has_repeats(self) -> bool:
        """Return whether any case has several trials."""
        ...

    def first_suite_and_model(self) -> tuple[str, str] | None:
        """Return suite and entrant of the first, in the order of the suites."""
        ...


@dataclass(frozen=True, slots=True)
class _ResultsInMemory:
    results: Sequence[TrialResult]

    def __len__(self) -> int:
        return sum(not result.is_further for result in self.results)

    def list_cases(self) -> Collection[tuple[str, str, str]]:
        return {(result.suite, result.case.name, result.entrant) for result in self.results}

    def list_statuses(self) -> AbstractSet[Status]:
        return {result.status for result in self.results}

    def has_repeats(self) -> bool:
        return any(result.repeats > 1 for result in self.results)

    def first_suite_and_model(self) -> tuple[str, str] | None:
        return next(((result.suite, result.entrant) for result in self.results), None)


def missing_results(log: RunLog, results: Sequence[TrialResult]) -> Iterator[TrialResult]:
    """Yield what `find_missing` yields for ``results`` of ``log``."""
    return find_missing(log.header, log.footer, _ResultsInMemory(results))


def find_missing(
    header: Header, footer: Footer | None, recorded: RecordedResults
) -> Iterator[TrialResult]:
    """Yield an entry that has not passed for everything that the results of a run lack.

    These are: each planned case without a trial, if the log names the cases; the fault in the
    footer; and the early end of a run whose results would all have passed.
    """
    lacking = header.planned - len(recorded)
    unrun = _list_unrun(header, recorded) if lacking > 0 else []
    # Such a case lacks at least one trial: with more cases than trials, names would mislead.
    named = unrun if len(unrun) <= lacking else []
    yield from named
    if footer is not None and footer.fault is not None:
        yield _add_fault(
            _run_entry(header, recorded), footer.fault, ended=footer.reason == "complete"
        )
    # Any other status already shows that the run is no success.
    elif not named and recorded.list_statuses() <= {"passed"}:
        if lacking > 0 and not recorded.has_repeats():  # cases show missing repeats
            yield _run_entry(header, recorded, f"{lacking} planned trials have no result")
        elif footer is None or footer.reason == "interrupted":
            yield _run_entry(header, recorded, "interrupted")


def _list_unrun(header: Header, recorded: RecordedResults) -> list[TrialResult]:
    """Return a cancelled result for each case and entrant of the header without a result."""
    asked = recorded.list_cases()
    return [
        _cancelled_result(suite, case, entrant, described)
        for suite, facts in header.suites.items()
        for case in facts.get("cases", ())
        for entrant, described in header.entrants.items()
        if (suite, case, entrant) not in asked
    ]


def _cancelled_result(suite: str, case: str, entrant: str, described: JsonObject) -> TrialResult:
    return TrialResult(
        # A key of no planned trial, but the same whenever the log is read.
        key=digest_json(["no result", suite, case, entrant]),
        suite=suite,
        case=CaseFacts(name=case),
        **_split_entrant(described),
        trial=1,
        status="cancelled",
        skip_reason="the run ended without a result of this case",
    )


def _run_entry(header: Header, recorded: RecordedResults, reason: str = "") -> TrialResult:
    # A run without any result has at least a header.
    suite, entrant = recorded.first_suite_and_model() or (
        next(iter(header.suites), ""),
        next(iter(header.entrants), ""),
    )
    return TrialResult(
        key=digest_json(["the whole", suite, entrant]),
        suite=suite,
        case=CaseFacts(name=WHOLE_RUN),
        **_split_entrant(header.entrants.get(entrant, {"model": entrant})),
        trial=NO_TRIAL,
        status="cancelled",
        skip_reason=reason or None,
    )


def _split_entrant(described: JsonObject) -> dict[str, Any]:
    """Return the fields of a result that say which entrant it is of."""
    return {
        "model": described["model"],
        "axes": {axis: value for axis, value in described.items() if axis != "model"},
    }


def _add_fault(entry: TrialResult, fault: str, *, ended: bool) -> TrialResult:
    """Return ``entry`` with a fault: as a failure if the run was completed, else as an error."""
    if not ended:
        error = TrialError(kind="harness", message=fault)
        return replace(entry, status="error", error=error)
    check = CheckResult(kind="run", label="run", verdict="failed", explanation=fault)
    return replace(entry, status="failed", checks=(check,))
