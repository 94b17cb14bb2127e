"""The trials of a probe and the server's answers to each caller, read from the log."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from harness.base import make_one_line
from harness.judging import Result, View, compare_results, logged_view
from harness.probing.callers import ANONYMOUS
from harness.reports import ProbeFinding, Problem
from harness.runlog import RunLog
from harness.types import NOT_SENT, UNANSWERED, Outcome, Report, TrialResult, dataclass

NO_ANSWER: frozenset[Outcome] = UNANSWERED | NOT_SENT
"""Outcomes that show no decision of the server's policy."""
_APART = {
    "warm_up": "was made before anything was compared",
    "after": "repeats a call, to confirm a suspicion",
    "forged": "is forged, or confirms a forged one",
    "opener": "has another token than the one that opened its session",
    "expired": "measures how long after its expiry a token is accepted",
    "data": "is made on data in which a value may be altered",
    "cursor": "asks for a page, with the caller's own cursor or another caller's",
    "record": "asks for a record of the suite's own identities",
    "shared": "has a value that another parameter, an identity or an answer has",
    "road": "may lead to what is kept from the caller by another road",
    "beside": "asks beside another identity, in a process that nobody else has asked",
    "write": "changes something, or reads a record after that",
    "gate": "is behind a consent gate, with one of the answers that a user may give",
    "alone": "is made in a separate process, or after one other caller in a new process",
}
"""Fact of a call that is not common to all callers → what such a call is for."""


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


def is_apart(result: TrialResult) -> bool:
    """Whether a call is not one of the common calls, which all callers make on unaltered data."""
    return not _APART.keys().isdisjoint(get_facts(result))


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
    both = (_DistinctResult(one.fingerprint, one) for one in (result, own))
    return list(_find_extra_fields(*both))


@dataclass(frozen=True, slots=True)
class _DistinctResult:
    """A result for the cache below: equal to every other one that says the same."""

    fingerprint: object
    result: Result = field(compare=False)


@lru_cache(maxsize=512)
def _find_extra_fields(result: _DistinctResult, own: _DistinctResult) -> tuple[str, ...]:
    # Most damaged identities are told the same, so the same two answers are compared many times.
    found = compare_results(result.result, own.result)
    return tuple(dict.fromkeys(difference.leaf.path for difference in found))


_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


def group_by(key: Callable[[_V], _K], values: Iterable[_V]) -> dict[_K, list[_V]]:
    """Return ``values`` by their keys, in order."""
    found: dict[_K, list[_V]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return found


def build_finding(
    problem: Problem, words: str, caller: str, call: str | None = None, **how: Any
) -> ProbeFinding:
    """Return a finding on one caller, on one line."""
    words = make_one_line(words)
    return ProbeFinding(problem=problem, words=words, callers=(caller,), call=call, **how)


class ProbedTrials:
    """The trials of a probe by purpose, and the server's answers."""

    def __init__(self, report: Report, log: RunLog) -> None:
        """Read ``log``, whose report is ``report``."""
        self.report = report
        self.log = log
        self.settings = report.settings
        """The settings of the probe."""
        calls = tuple(iterate_calls(report.results))
        self.runs = tuple(run for run in calls if not is_apart(run))
        """The common calls."""
        self.own = tuple(run for run in self.runs if not get_bases(run))
        """Those of them that the suite's own identities made."""
        self.apart = {key: tuple(run for run in calls if key in get_facts(run)) for key in _APART}
        """The other calls, by the fact that tells what they are for."""
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

    def select_views(self, trials: Iterable[TrialResult]) -> list[View]:
        """Return what the callers of ``trials`` saw, where a session was opened."""
        return [self.views[trial.key] for trial in trials if trial.key in self.views]

    def is_refused(self, result: TrialResult) -> bool:
        """Whether the server refused the caller a session."""
        return result.key in self.views and self.views[result.key].refused

    def get_offered_tools(self, result: TrialResult) -> frozenset[str]:
        """Return the tools that were listed for the caller."""
        return self.views[result.key].tool_names if result.key in self.views else frozenset()

    def collect_tool_lists(self) -> dict[str, frozenset[str]]:
        """Return the listed tools of each caller that had an answer."""
        asked = [run for run in self.runs if run.key in self.views]
        return {get_caller_name(run): self.get_offered_tools(run) for run in asked}

    @cached_property
    def first_answers(self) -> Mapping[tuple[str, str], TrialResult]:
        """Each caller's first answered trial of each call, counting refused sessions."""
        first: dict[tuple[str, str], TrialResult] = {}
        # In order of the rounds, since concurrent callers log their calls in any order.
        for run in sorted(self.runs, key=lambda run: run.trial):
            result = self.get_result(run)
            is_answer = result is not None and result.call.outcome not in NO_ANSWER
            if is_answer or self.is_refused(run):
                first.setdefault((get_caller_name(run), get_label(run)), run)
        return first

    def find_answer(self, name: str, call: str) -> Result | None:
        """Return a caller's first answer to a call; ``None`` if there is none."""
        first = self.first_answers.get((name, call))
        return None if first is None else self.get_result(first)

    def gets_as_much(self, trial: TrialResult, result: Result) -> bool:
        """Whether ``trial`` got everything that ``result``, a result of the same call, has."""
        own = self.get_result(trial)
        return own is not None and own.call.outcome == "ok" and not find_extra_fields(result, own)
