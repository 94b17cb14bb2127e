"""The verdict on a case, from the results of its trials, and entries for what has no result.

Without these a report would look better than the exit code of the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, starmap
from typing import Any, Protocol, TypeAlias

from harness.base import digest_json
from harness.judging.access import NO_LEAK, is_leaking
from harness.runlog import Footer, Header, ResultBlocks, RunLog
from harness.types import (
    NOBODY_ASKED,
    CaseFacts,
    CaseResult,
    CheckResult,
    Status,
    TrialError,
    TrialResult,
    count_needed_passes,
    dataclass,
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
        # No model is asked in these cases, and in no others.
        if (entrant == NOBODY_ASKED) == (case in facts.get("without_model", ()))
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
