"""Findings about altered values, from the log of a probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from harness.base import make_one_line
from harness.probing.caller_views import get_facts, get_label
from harness.probing.interference.answer_locations import SHOWN, Record, build_records
from harness.probing.interference.comparison import Account, AlterationComparison, DependentAnswer
from harness.probing.interference.data_sets import iterate_declarations
from harness.probing.report import ONE_DATA_SET
from harness.reports import ProbeFinding
from harness.runlog import RunLog
from harness.types import ToolList, TrialResult

_MOST_NAMES = 4


class AlterationOutcome:
    """All altered values of a probe."""

    def __init__(self, log: RunLog, runs: Iterable[TrialResult]) -> None:
        """Read ``runs``, the calls that were made because of altered values, from ``log``."""
        self._log = log
        self._runs = tuple(runs)

    @cached_property
    def _comparisons(self) -> tuple[AlterationComparison, ...]:
        records: dict[int, list[Record]] = {}
        for run in self._runs:
            number = get_facts(run)["data"]["number"]
            records.setdefault(number, []).extend(self._iterate_records(run))
        declared = iterate_declarations(self._log.header.settings)
        return tuple(
            AlterationComparison(one, records.get(n, ())) for n, one in enumerate(declared)
        )

    def _iterate_records(self, result: TrialResult) -> Iterator[Record]:
        transcript = self._log.read_transcript(result.key) if result.stop is not None else None
        digest = "" if transcript is None else transcript.tools_digest
        return build_records(result, transcript, self._log.tools.get(digest) or ToolList(tools=()))

    def build_accounts(self) -> tuple[Account, ...]:
        """Return the scope and result for each altered value."""
        return tuple(comparison.build_account() for comparison in self._comparisons)

    def find_findings(self) -> Iterator[ProbeFinding]:
        """Yield a finding for each kind of answer that depends on an altered value but must not."""
        for comparison in self._comparisons:
            groups: dict[tuple[object, ...], list[DependentAnswer]] = {}
            for found in comparison.find_dependents():
                # The first difference is the most significant one, so it says of which kind the
                # finding is.
                first = found.differences[0].place.generic_key
                tool = SHOWN if found.asked.call == SHOWN else found.record.tool
                groups.setdefault((tool, *first), []).append(found)
            yield from (_build_finding(comparison, same) for same in groups.values())


def collect_failures(accounts: Iterable[Account]) -> Mapping[str, str]:
    """Return the reason of each inconclusive comparison, by the name of the altered value."""
    return {one.name: f"{one.name}: {one.fault}" for one in accounts if one.fault is not None}


def _build_finding(
    comparison: AlterationComparison, same: Sequence[DependentAnswer]
) -> ProbeFinding:
    """Return the finding of answers of one tool that differ in the same place."""
    found, declared = same[0], comparison.declared
    callers = tuple(dict.fromkeys(one.asked.caller for one in same))
    words = (
        f"{found.asked.call} as {_join_names(callers)} depends on {declared.name}, which "
        f"{_join_names(comparison.may_see)} may see"
    )
    shown = found.differences[0].description
    if (others := len(found.differences) - 1) > 0:
        shown += f"; {others} more places differ" if others > 1 else "; one more place differs"
    if (calls := len({one.asked.call for one in same}) - 1) > 0:
        shown += f"; so do {calls} more calls" if calls > 1 else "; so does one more call"
    return ProbeFinding(
        problem="interference",
        words=make_one_line(words),
        callers=callers,
        call=None if found.asked.call == SHOWN else get_label(found.record.run),
        shown=(make_one_line(shown), ONE_DATA_SET),
    )


def _join_names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    listed = ", ".join(names[:_MOST_NAMES]) or "nobody"
    return f"{listed} and {more} more" if more > 0 else listed
