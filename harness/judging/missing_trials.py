"""Entries for cases without a result, and for failures of the run as a whole.

Without them a report would look better than the exit code of the run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from harness.base import digest_json
from harness.runlog import Footer, Header, RunLog
from harness.types import CaseFacts, CheckResult, Status, TrialError, TrialResult

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
    asked = recorded.list_cases() if lacking > 0 else ()
    unrun = [
        (suite, case, entrant)
        for suite, facts in header.suites.items()
        for case in facts.get("cases", ())
        for entrant in header.entrants
        if lacking > 0 and (suite, case, entrant) not in asked
    ]
    # Such a case lacks at least one trial: with more cases than trials, names would mislead.
    named = unrun if len(unrun) <= lacking else []
    why = "the run ended without a result of this case"
    for suite, case, entrant in named:
        yield _build_entry(("no result", suite, case, entrant), header, trial=1, skip_reason=why)
    if footer is not None and footer.fault is not None:
        yield _build_run_entry(header, recorded, **_describe_fault(footer, footer.fault))
    # Any other status already shows that the run is no success.
    elif not named and recorded.list_statuses() <= {"passed"}:
        if lacking > 0 and not recorded.has_repeats():  # cases show missing repeats
            why = f"{lacking} planned trials have no result"
            yield _build_run_entry(header, recorded, skip_reason=why)
        elif footer is None or footer.reason == "interrupted":
            yield _build_run_entry(header, recorded, skip_reason="interrupted")


def _describe_fault(footer: Footer, fault: str) -> dict[str, Any]:
    """Return a fault as fields of its entry: a failure if the run was completed, else an error."""
    if footer.reason != "complete":
        return {"status": "error", "error": TrialError(kind="harness", message=fault)}
    check = CheckResult(kind="run", label="run", verdict="failed", explanation=fault)
    return {"status": "failed", "checks": (check,)}


def _build_run_entry(header: Header, recorded: RecordedResults, **facts: Any) -> TrialResult:
    # A run without any result has at least a header.
    first = next(iter(header.suites), ""), next(iter(header.entrants), "")
    suite, entrant = recorded.first_suite_and_model() or first
    return _build_entry(("the whole", suite, entrant), header, trial=NO_TRIAL, **facts)


def _build_entry(place: tuple[str, ...], header: Header, **facts: Any) -> TrialResult:
    """Return an entry; ``place`` is its kind, the suite, perhaps the case, and the entrant."""
    _, suite, *case, entrant = place
    described = header.entrants.get(entrant, {"model": entrant})
    return TrialResult(
        # A key of no planned trial, but the same whenever the log is read.
        key=digest_json(list(place)),
        suite=suite,
        case=CaseFacts(name=case[0] if case else WHOLE_RUN),
        model=described["model"],
        axes={axis: value for axis, value in described.items() if axis != "model"},
        **{"status": "cancelled", **facts},
    )
