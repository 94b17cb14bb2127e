"""The trials of a probe and the server's answers to each caller, read from the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.judging import Result, View, compare_results, logged_view
from harness.probing.callers import ANONYMOUS
from harness.runlog import RunLog
from harness.types import NOT_SENT, UNANSWERED, Outcome, Report, TrialResult

NO_ANSWER: frozenset[Outcome] = UNANSWERED | NOT_SENT
"""Outcomes that show no decision of the server's policy."""
_APART = frozenset(
    {"forged", "after", "opener", "expired", "data", "cursor", "alone", "warm_up", "record"}
)
"""Keys in the facts of calls that are not common to all callers."""


def iterate_calls(results: Iterable[TrialResult]) -> Iterator[TrialResult]:
    """Yield the results of calls; entries that only state a finding are left out."""
    return (result for result in results if "probe" in result.case.metadata)


def get_facts(result: TrialResult) -> Mapping[str, Any]:
    """Return the probe's facts of a call: ``tool``, ``arguments``, ``bases``, ``damage`` ….

    A repeated call that confirms a suspicion also has ``call`` (its name in tables) and ``after``
    (the previous caller; ``None`` for that caller's own call).
    """
    facts: Mapping[str, Any] = result.case.metadata["probe"]
    return facts


def get_caller_name(result: TrialResult) -> str:
    """Return the caller's name."""
    return result.case.identity or ANONYMOUS


def get_bases(result: TrialResult) -> Sequence[str]:
    """Return the identities that a damaged one derives from; none for the suite's own."""
    bases: Sequence[str] = get_facts(result)["bases"]
    return bases


def is_flawed(result: TrialResult) -> bool:
    """Whether the caller sends a token that a verifier must refuse."""
    return bool(get_facts(result)["credential"] != "valid")


def is_forged(result: TrialResult) -> bool:
    """Whether a call is forged, or confirms a forged one."""
    return "forged" in get_facts(result)


def is_apart(result: TrialResult) -> bool:
    """Whether a call is not one of the common calls, which all callers make on unaltered data.

    Such a call is forged, repeated, has a swapped token, a token of another age or a cursor, is
    made in a separate process, or on data that may be altered.
    """
    return not _APART.isdisjoint(get_facts(result))


def get_repetition(result: TrialResult) -> tuple[str, str] | None:
    """Return the name of a repeated call, and who made it right before; ``None`` for others."""
    facts = get_facts(result)
    # A call alone has these facts one level below, so that `again` does not count it.
    alone = facts.get("alone", {})
    call, after = alone.get("of", facts.get("call")), alone.get("after", facts.get("after"))
    return None if after is None else (call, after)


def get_label(result: TrialResult) -> str:
    """Return the call's name in tables."""
    return result.case.name.removesuffix(f" [{result.case.identity}]")


def find_extra_fields(result: Result, own: Result) -> list[str]:
    """Return the fields that ``result`` has and ``own``, a result of the same call, withholds."""
    return list(_find_extra_fields(_DistinctResult(result), _DistinctResult(own)))


# For the cache below: equal by what the results say, not by the call that gave them.
class _DistinctResult:
    """A result that is equal to every other one that says the same."""

    __slots__ = ("result",)

    def __init__(self, result: Result) -> None:
        self.result = result

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _DistinctResult)
            and self.result.fingerprint == other.result.fingerprint
        )

    def __hash__(self) -> int:
        return hash(self.result.fingerprint)


@lru_cache(maxsize=512)
def _find_extra_fields(result: _DistinctResult, own: _DistinctResult) -> tuple[str, ...]:
    # Most damaged identities are told the same, so the same two answers are compared many times.
    found = compare_results(result.result, own.result)
    return tuple(dict.fromkeys(difference.leaf.path for difference in found))


class ProbedTrials:
    """The trials of a probe by purpose, and the server's answers."""

    def __init__(self, report: Report, log: RunLog) -> None:
        """Read ``log``, whose report is ``report``."""
        calls = tuple(iterate_calls(report.results))
        self.runs = tuple(run for run in calls if not is_apart(run))
        self.again = tuple(run for run in calls if "after" in get_facts(run))
        """Repeated calls, which only confirm a suspicion."""
        self.swapped = tuple(run for run in calls if "opener" in get_facts(run))
        """Calls with another token than the one that opened their session."""
        self.aged = tuple(run for run in calls if "expired" in get_facts(run))
        """Calls that measure how long after its expiry a token is accepted."""
        self.turned = tuple(run for run in calls if "cursor" in get_facts(run))
        """Calls for a page, with the caller's own cursor or another caller's."""
        self.warm_up = tuple(run for run in calls if "warm_up" in get_facts(run))
        """Calls that were made before anything was compared."""
        self.records = tuple(run for run in calls if "record" in get_facts(run))
        """Calls for the records of the suite's own identities."""
        self.alone = tuple(run for run in calls if "alone" in get_facts(run))
        """Calls in a separate process, or after one other caller in a new process."""
        self.forged = tuple(run for run in calls if is_forged(run))
        """Forged calls and those that confirm them."""
        self.with_data = tuple(run for run in calls if "data" in get_facts(run))
        """Calls on data in which a value may be altered."""
        self.further = (
            *(*self.again, *self.forged, *self.swapped, *self.with_data),
            *self.turned,
            *self.alone,
            *self.records,
        )
        """All calls of the suite's own identities besides the common ones."""
        self.views: dict[str, View] = {}
        """`TrialResult.key` → what the caller saw; no entry if no session was opened."""
        for run in calls:
            if "data" in get_facts(run):
                continue  # compared with one another alone
            view = logged_view(log, run)
            # A session that opened without a call says nothing of any tool.
            if view is not None and (view.refused or view.results):
                self.views[run.key] = view

    def get_result(self, result: TrialResult) -> Result | None:
        """Return the recorded call and its answer; ``None`` if nothing was called."""
        view = self.views.get(result.key)
        return view.results[0] if view is not None and view.results else None

    def is_refused(self, result: TrialResult) -> bool:
        """Whether the server refused the caller a session."""
        view = self.views.get(result.key)
        return view is not None and view.refused

    def get_offered_tools(self, result: TrialResult) -> frozenset[str]:
        """Return the tools that were listed for the caller."""
        view = self.views.get(result.key)
        return view.tool_names if view is not None else frozenset()

    def collect_tool_lists(self) -> dict[str, frozenset[str]]:
        """Return the listed tools of each caller that had an answer."""
        return {
            get_caller_name(run): self.get_offered_tools(run)
            for run in self.runs
            if run.key in self.views
        }

    def collect_answered(self) -> dict[tuple[str, str], TrialResult]:
        """Return each caller's first answered trial of each call, counting refused sessions."""
        first: dict[tuple[str, str], TrialResult] = {}
        # In order of the rounds, since concurrent callers log their calls in any order.
        for run in sorted(self.runs, key=lambda run: run.trial):
            result = self.get_result(run)
            if self.is_refused(run) or (
                result is not None and result.call.outcome not in NO_ANSWER
            ):
                first.setdefault((get_caller_name(run), get_label(run)), run)
        return first

    def gets_as_much(self, trial: TrialResult, result: Result) -> bool:
        """Whether ``trial`` got everything that ``result``, a result of the same call, has."""
        own = self.get_result(trial)
        return own is not None and own.call.outcome == "ok" and not find_extra_fields(result, own)
