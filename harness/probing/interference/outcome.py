"""Findings about altered values, from the log of a probe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from harness.base import one_line
from harness.probing.caller_views import facts_of, label_of
from harness.probing.interference.comparing import Account, Comparison, Dependent
from harness.probing.interference.declared import declared_in
from harness.probing.interference.records import SHOWN, Record, records_of
from harness.probing.report import ONE_DATA_SET
from harness.reports import ProbeFinding
from harness.runlog import RunLog
from harness.types import ToolList, TrialResult

_MOST_NAMES = 4


class Altered:
    """All altered values of a probe."""

    def __init__(self, log: RunLog, runs: Iterable[TrialResult]) -> None:
        """Read ``runs``, the calls that were made because of altered values, from ``log``."""
        self._log = log
        self._runs = tuple(runs)

    @cached_property
    def _comparisons(self) -> tuple[Comparison, ...]:
        records: dict[int, list[Record]] = {}
        for run in self._runs:
            number = facts_of(run)["data"]["number"]
            records.setdefault(number, []).extend(self._records(run))
        declared = declared_in(self._log.header.settings)
        return tuple(Comparison(one, records.get(n, ())) for n, one in enumerate(declared))

    def _records(self, result: TrialResult) -> Iterator[Record]:
        transcript = self._log.transcript(result.key) if result.stop is not None else None
        digest = "" if transcript is None else transcript.tools_digest
        return records_of(result, transcript, self._log.tools.get(digest) or ToolList(tools=()))

    def accounts(self) -> tuple[Account, ...]:
        """Return the scope and result for each altered value."""
        return tuple(one.account() for one in self._comparisons)

    def findings(self) -> Iterator[ProbeFinding]:
        """Yield a finding for each kind of answer that depends on an altered value but must not."""
        for comparison in self._comparisons:
            groups: dict[tuple[object, ...], list[Dependent]] = {}
            for found in comparison.dependents():
                first = found.differences[0].place.generic
                tool = SHOWN if found.asked.call == SHOWN else found.record.tool
                groups.setdefault((tool, *first), []).append(found)
            yield from (_finding(comparison, same) for same in groups.values())


def faults(accounts: Iterable[Account]) -> Mapping[str, str]:
    """Return the reason of each inconclusive comparison, by the name of the altered value."""
    return {one.name: f"{one.name}: {one.fault}" for one in accounts if one.fault is not None}


def _finding(comparison: Comparison, same: Sequence[Dependent]) -> ProbeFinding:
    """Return the finding of answers of one tool that differ in the same place."""
    found, declared = same[0], comparison.declared
    callers = tuple(dict.fromkeys(one.asked.caller for one in same))
    words = (
        f"{found.asked.call} as {_names(callers)} depends on {declared.name}, which "
        f"{_names(comparison.may_see)} may see"
    )
    shown = found.differences[0].words
    if (others := len(found.differences) - 1) > 0:
        shown += f"; {others} more places differ" if others > 1 else "; one more place differs"
    if (calls := len({one.asked.call for one in same}) - 1) > 0:
        shown += f"; so do {calls} more calls" if calls > 1 else "; so does one more call"
    return ProbeFinding(
        problem="interference",
        words=one_line(words),
        callers=callers,
        call=None if found.asked.call == SHOWN else label_of(found.record.run),
        shown=(one_line(shown), ONE_DATA_SET),
    )


def _names(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    listed = ", ".join(names[:_MOST_NAMES]) or "nobody"
    return f"{listed} and {more} more" if more > 0 else listed
